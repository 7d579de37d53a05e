import {
  type ImageDeployment,
  type ImageDeploymentKind,
  type imageCalls,
  imageDeploymentKinds,
  type stopAllWan as stopAllWanEndpoint,
} from '@bakehouse/contract/deployments/images';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { notFound } from '../../../platform/errors.ts';
import { listStarterModels } from '../../models/starter/starters.ts';
import { terminateDeployment } from '../end-deployment.ts';
import { findDeployment, findLiveDeployment, selectDeployments } from '../find-deployments.ts';
import { toImageDeployment } from '../kinds/vllm.ts';
import { listDeployments } from '../list-deployments.ts';
import { readDeployment } from '../read-deployment.ts';

/** How long the list shows a deployment that ended without its owner's request, with the reason. */
const ENDED_SHOWN_MS = 24 * 60 * 60 * 1000;

/**
 * Returns the name of the caller's deployment that is used by default: the newest usable one, otherwise the
 * newest live one. Null if there is none.
 */
export async function findActiveDeployment(
  { db, caller }: Context,
  kind: ImageDeploymentKind,
): Promise<string | null> {
  const { userId } = caller;
  const live = { userId, kinds: [kind], includeTerminated: false, limit: 1 } as const;
  const [usable] = await selectDeployments(db, { ...live, usable: true });
  const [newest] = usable ? [usable] : await selectDeployments(db, live);
  return newest?.model_name ?? null;
}

/**
 * Returns the caller's deployment of an image model, even if it has ended. Requests use its `model_name`.
 * Throws AppError 'not_found'.
 */
export async function findImageDeployment(ctx: Context, podId: string): Promise<ImageDeployment> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId });
  const kind = imageDeploymentKinds.find((one) => one === row?.kind);
  if (!kind) throw notFound('Deployment', 'podId');
  return toImageDeployment(ctx.config, await readDeployment(ctx, { podId, kinds: [kind] }));
}

/** A model server for images. Either a starter model's, which all users share, or a deployment's. */
type ImageServer = { starter: string } | { podId: string };

/**
 * Returns the model server that generates for the caller under this name. A deployment of a starter model
 * uses the starter model's server.
 */
export async function findImageServer(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  modelName: string,
): Promise<ImageServer> {
  const deployed = await findLiveDeployment(db, { userId: caller.userId, modelName });
  if (!deployed) return { starter: modelName };
  const starters = deployed.has_own_server ? [] : await listStarterModels(db);
  const starter = starters.find(({ assetId }) => assetId === deployed.asset_id);
  return starter ? { starter: starter.modelName } : { podId: deployed.id };
}

type Named<Kind> = { kind: Kind; title: string; model_name: string };

/** Returns the caller's live deployment of one of these kinds with this name; null if there is none. */
export async function findNamedImageDeployment<Kind extends ImageDeploymentKind>(
  ctx: Context,
  modelName: string,
  kinds: readonly Kind[],
): Promise<Named<Kind> | null> {
  const found = await findLiveDeployment(ctx.db, { userId: ctx.caller.userId, modelName });
  const kind = kinds.find((one) => one === found?.kind);
  return found && kind ? { kind, title: found.title, model_name: modelName } : null;
}

/** Returns the caller's deployments of some kinds, newest first. */
export async function listImageDeployments(
  ctx: Context,
  {
    kinds,
    query,
  }: { kinds: readonly ImageDeploymentKind[]; query: InputOf<typeof imageCalls.flux.list>['query'] },
): Promise<ResponseOf<typeof imageCalls.flux.list>> {
  const { only_running: usable, include_terminated: includeTerminated, ...rest } = query;
  const endedSince = new Date(ctx.clock.now().getTime() - ENDED_SHOWN_MS);
  const page = await listDeployments(ctx, { kinds, usable, includeTerminated, endedSince, ...rest });
  return {
    deployments: page.deployments.map((view) => toImageDeployment(ctx.config, view)),
    next_cursor: page.nextCursor,
  };
}

/** Returns the names of the caller's live deployments of these kinds. */
export async function listImageModelNames(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  kinds: readonly ImageDeploymentKind[],
): Promise<string[]> {
  const live = await selectDeployments(db, { userId: caller.userId, kinds, includeTerminated: false });
  return live.map(({ model_name: name }) => name);
}

/**
 * Terminates all Wan deployments of the caller and charges their time. Ignores deployments that another call
 * ends at the same time.
 */
export async function stopAllWan(ctx: Context): Promise<ResponseOf<typeof stopAllWanEndpoint>> {
  const { userId } = ctx.caller;
  const kinds = ['wan'] as const;
  const live = await selectDeployments(ctx.db, { userId, kinds, includeTerminated: false });
  const stopped = [];
  // One after the other, because each charge locks the same account.
  for (const { id } of live)
    stopped.push(toImageDeployment(ctx.config, await terminateDeployment(ctx, { podId: id, kinds })));
  return { stopped };
}
