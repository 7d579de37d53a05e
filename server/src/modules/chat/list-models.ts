import type {
  listModels as contract,
  getModel as getModelContract,
  openAiModel,
} from '@bakehouse/contract/chat';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { generators } from '@bakehouse/contract/generators/table';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import type * as z from 'zod';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { selectDeployments } from '../deployments/find-deployments.ts';
import { deploymentKinds, type KindName } from '../deployments/kinds/kinds.ts';
import { listFineTunes } from '../models/fine-tuned/steps.ts';
import { toModelName } from '../models/names/model-name.ts';
import { listStarterModels } from '../models/starter/list-starter-models.ts';
import { listUpstreams } from '../providers/find-upstreams.ts';
import { isForAnthropic } from './messages/describe-anthropic-error.ts';

type Model = z.output<typeof openAiModel>;

/** Lists the caller's models, external generators and starter models; text models first. */
export async function listModels(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const own = await selectDeployments(ctx.db, { userId, includeTerminated: false });
  const starters = await listStarterModels(ctx.db);
  const fineTunes = await listFineTunes(ctx.db, { userId });
  const deployed = new Set(own.map((row) => row.model_name));
  const models: Model[] = [
    ...own.map((row) => ({
      ...toModel(row.model_name, row.created_at, userId, taskOf(row.kind as KindName)),
      parent: row.adapter === null ? null : toModelName(row.base_model_title),
    })),
    ...listUpstreams(ctx.config).map(({ generator, title }) =>
      toModel(generator, new Date(0), title, generators[generator].makes),
    ),
    ...starters.map(({ modelName, createdAt, task }) =>
      toModel(modelName, createdAt, 'bakehouse', modelName === WAN_STARTER ? 'video' : task),
    ),
    // Their first call deploys them.
    ...fineTunes
      .filter(({ name }) => !deployed.has(name))
      .map(({ name, createdAt, baseTitle }) => ({
        ...toModel(name, createdAt, userId, 'text'),
        parent: baseTitle === null ? null : toModelName(baseTitle),
      })),
  ];
  // Clients that use the first model, such as the web app's examples, need a chat model.
  const rank = ({ task }: Model) => (task === 'text' ? 0 : 1);
  return { object: 'list', data: models.toSorted((one, other) => rank(one) - rank(other)) };
}

/** Lists the models in the format of OpenAI's or Anthropic's API, depending on the client. */
export async function answerModels(ctx: Context, http: Http): Promise<ResponseOf<typeof contract>> {
  const { object, data } = await listModels(ctx);
  if (!isForAnthropic(http)) return { object, data };
  return {
    ...{ object, data: data.map(toAnthropicModel), has_more: false },
    ...{ first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}

function toAnthropicModel(model: Model): Model {
  const created = new Date(model.created * 1000).toISOString();
  return { ...model, type: 'model', display_name: model.id, created_at: created };
}

/** Returns one model. Throws AppError 'model_not_found'. */
export async function getModel(
  ctx: Context,
  { params }: InputOf<typeof getModelContract>,
  http: Http,
): Promise<ResponseOf<typeof getModelContract>> {
  const { data } = await listModels(ctx);
  const model = data.find(({ id }) => id === params.model);
  if (!model) {
    throw new AppError('model_not_found', {
      publicMessage: `There is no model '${params.model}'`,
      param: 'model',
    });
  }
  return isForAnthropic(http) ? toAnthropicModel(model) : model;
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
  };
}
