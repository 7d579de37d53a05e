import * as all from '@bakehouse/contract/deployments/all';
import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import * as image from '@bakehouse/contract/deployments/images';
import * as contract from '@bakehouse/contract/deployments/text';
import { invalidParam } from '../../platform/errors.ts';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { deploy, findTextKind, quoteDeployment } from './deploy.ts';
import { terminateDeployment, type WakingParts } from './end-deployment.ts';
import { findImageDeployment, listImageDeployments, stopAllWan } from './images/image-deployments.ts';
import { textKinds } from './kinds/kinds.ts';
import { toAnyDeployment } from './kinds/to-any-deployment.ts';
import { toImageDeployment, toVllm, toVllmProgress, toVllmStats } from './kinds/vllm.ts';
import { listDeployments } from './list-deployments.ts';
import { readDeployment } from './read-deployment.ts';
import { readLogs } from './read-logs.ts';
import { sumDeployments } from './sum-deployments.ts';

export function deploymentsRoutes(parts: WakingParts): Binding[] {
  return [...vllmRoutes(parts), ...imageRoutes(parts), listAll];
}

/** Route for deployments of every kind. */
const listAll = bind(all.listDeployments, async (ctx, { query }) => {
  const { include_terminated: includeTerminated, ...rest } = query;
  const page = await listDeployments(ctx, { includeTerminated, ...rest });
  return { deployments: page.deployments.map(toAnyDeployment), next_cursor: page.nextCursor };
});

/** Routes for deployments of text and embedding models. */
function vllmRoutes(parts: WakingParts): Binding[] {
  const kinds = textKinds;
  return [
    bind(contract.deployVllm, async (ctx, { body }) => {
      const { created_at: _at, ...made } = await deploy(ctx, parts, {
        kind: await findTextKind(ctx, body.model_id),
        body,
      });
      return made;
    }),
    bind(contract.quoteVllm, async (ctx, { body }) => {
      const {
        title: _title,
        licence: _licence,
        context,
        ...quote
      } = await quoteDeployment(ctx, parts, { kind: await findTextKind(ctx, body.model_id), body });
      return { ...quote, context_tokens: context?.tokens ?? 0, context_tokens_max: context?.max ?? null };
    }),
    bind(contract.listVllm, async (ctx, { query }) => {
      const { include_terminated: includeTerminated, model_id: modelId, ...rest } = query;
      const page = await listDeployments(ctx, { kinds, includeTerminated, modelId, ...rest });
      return { pods: page.deployments.map(toVllm), next_cursor: page.nextCursor };
    }),
    bind(contract.vllmStats, async (ctx) => toVllmStats(await sumDeployments(ctx, { kinds }))),
    bind(contract.vllmStatus, async (ctx, { params: { podId } }) =>
      toVllm(await readDeployment(ctx, { podId, kinds })),
    ),
    bind(contract.vllmProgress, async (ctx, { params: { podId } }) =>
      toVllmProgress(await readDeployment(ctx, { podId, kinds })),
    ),
    bind(contract.vllmLogs, async (ctx, { params: { podId }, query: { limit } }) => {
      const lines = await readLogs(ctx, { podId, kinds, limit });
      return { lines: lines.map(({ at, line }) => ({ at: at.toISOString(), line })) };
    }),
    bind(contract.terminatePod, async (ctx, { params: { podId }, query, body }) => {
      if (query.user_id === undefined && body?.user_id === undefined)
        throw invalidParam('user_id', 'user_id is required: in the query, as ?user_id=..., or in the body');
      return toVllm(await terminateDeployment(ctx, { podId, kinds }));
    }),
  ];
}

/** Routes for deployments of image models: the same four for each kind. */
function imageRoutes(parts: WakingParts): Binding[] {
  return [
    bind(image.listImageDeployments, (ctx, { query }) =>
      listImageDeployments(ctx, { kinds: image.imageDeploymentKinds, query }),
    ),
    ...image.imageDeploymentKinds.flatMap((kind) => kindRoutes(parts, kind)),
    bind(image.stopAllWan, (ctx) => stopAllWan(ctx)),
    bind(image.getImageDeployment, (ctx, { params: { podId } }) => findImageDeployment(ctx, podId)),
  ];
}

function kindRoutes(parts: WakingParts, kind: ImageDeploymentKind): Binding[] {
  const calls = image.imageCalls[kind];
  const terminates: readonly ImageDeploymentKind[] = image.imageKinds[kind].terminates;
  return [
    bind(calls.deploy, (ctx, { body }) => deploy(ctx, parts, { kind, body })),
    bind(calls.quote, async (ctx, { body }) => {
      const { context: _context, ...quote } = await quoteDeployment(ctx, parts, { kind, body });
      return quote;
    }),
    bind(calls.list, (ctx, { query }) => listImageDeployments(ctx, { kinds: [kind], query })),
    bind(calls.terminate, async (ctx, { params: { podId } }) =>
      toImageDeployment(ctx.config, await terminateDeployment(ctx, { podId, kinds: terminates })),
    ),
  ];
}
