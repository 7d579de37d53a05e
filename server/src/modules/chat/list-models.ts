import type { listModels as listModelsEndpoint, openAiModel } from '@bakehouse/contract/chat';
import type { vllmMetrics as vllmMetricsEndpoint } from '@bakehouse/contract/deployments/text';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { generators } from '@bakehouse/contract/generators/table';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import type * as z from 'zod';
import type { Context } from '../../platform/context.ts';
import { modelNotFound, notFound } from '../../platform/errors.ts';
import {
  findCarriers,
  findDeployment,
  findVisionStarters,
  selectDeployments,
} from '../deployments/find-deployments.ts';
import { deploymentKinds, type KindName, textKinds } from '../deployments/kinds/kinds.ts';
import { listFineTunes } from '../models/fine-tuned/fine-tuned.ts';
import { toModelName } from '../models/names/model-name.ts';
import { listStarterModels } from '../models/starter/starters.ts';
import { listUpstreams } from '../providers/find-upstreams.ts';
import { chatRequestsPerMinute } from './gateway-queries.ts';

type Model = z.output<typeof openAiModel>;

/** Lists the caller's models, external generators and starter models; text models first. */
export async function listModels(ctx: Context): Promise<ResponseOf<typeof listModelsEndpoint>> {
  const { userId } = ctx.caller;
  const own = await selectDeployments(ctx.db, { userId, includeTerminated: false });
  const carriers = await findCarriers(
    ctx.db,
    own.map(({ id }) => id),
  );
  const starters = await listStarterModels(ctx.db);
  const visionStarters = await findVisionStarters(ctx.db);
  const fineTunes = await listFineTunes(ctx.db, { userId });
  const deployed = new Set(own.map((row) => row.model_name));
  const models: Model[] = [
    ...own.map((row) => ({
      ...toModel(row.model_name, row.created_at, userId, taskOf(row.kind as KindName)),
      vision: carriers.get(row.id)?.vision ?? false,
      parent: row.adapter === null ? null : toModelName(row.base_model_title),
    })),
    ...listUpstreams(ctx.config).map(({ generator, title }) =>
      toModel(generator, new Date(0), title, generators[generator].makes),
    ),
    ...starters.map(({ modelName, createdAt, task }) => ({
      ...toModel(modelName, createdAt, 'bakehouse', modelName === WAN_STARTER ? 'video' : task),
      vision: visionStarters.has(modelName),
    })),
    // Fine-tunes are listed without a deployment, because their first call deploys them.
    ...fineTunes
      .filter(({ name }) => !deployed.has(name))
      .map(({ name, createdAt, baseTitle }) => ({
        ...toModel(name, createdAt, userId, 'text'),
        parent: baseTitle === null ? null : toModelName(baseTitle),
      })),
  ];
  // Chat models come first, because some clients, such as the web app's examples, use the first model of the
  // list.
  const rank = ({ task }: Model) => (task === 'text' ? 0 : 1);
  return { object: 'list', data: models.toSorted((one, other) => rank(one) - rank(other)) };
}

/** Returns one model. Throws AppError 'model_not_found'. */
export async function getModel(ctx: Context, id: string): Promise<Model> {
  const { data } = await listModels(ctx);
  const model = data.find((one) => one.id === id);
  if (model) return model;
  throw modelNotFound(`There is no model '${id}'`);
}

function taskOf(kind: KindName): Model['task'] {
  return kind === 'wan' ? 'video' : deploymentKinds[kind].server;
}

function toModel(id: string, created: Date, owner: string, task: Model['task']): Model {
  return {
    id,
    object: 'model',
    created: Math.floor(created.getTime() / 1000),
    owned_by: owner,
    task,
    parent: null,
    vision: false,
  };
}

/** Returns requests, latency and speed of a text deployment, with one point per minute that had requests. */
export async function readMetrics(
  ctx: Context,
  { params: { podId }, query: { minutes } }: InputOf<typeof vllmMetricsEndpoint>,
): Promise<ResponseOf<typeof vllmMetricsEndpoint>> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId, kinds: textKinds });
  if (!row) throw notFound('Deployment', 'podId');
  const since = new Date(ctx.clock.now().getTime() - minutes * 60_000);
  const rows = await chatRequestsPerMinute(ctx.db, { podId: row.id, since });
  return {
    points: rows.map((point) => ({
      at: point.minute.toISOString(),
      requests: Number(point.requests),
      errors: Number(point.errors),
      prompt_tokens: Number(point.prompt_tokens),
      completion_tokens: Number(point.completion_tokens),
      time_to_first_token_ms_p50: point.first_token_ms_p50,
      latency_ms_p50: point.total_ms_p50,
      latency_ms_p95: point.total_ms_p95,
      tokens_per_second: point.tokens_per_second,
    })),
  };
}
