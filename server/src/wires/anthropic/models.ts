import type { listModels as listModelsEndpoint, openAiModel } from '@bakehouse/contract/chat';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type * as z from 'zod';
import { getModel, listModels } from '../../modules/chat/list-models.ts';
import type { Context } from '../../platform/context.ts';

type Model = z.output<typeof openAiModel>;

/** Lists the models in the format of the client's API, which is OpenAI's or Anthropic's. */
export async function answerModels(
  ctx: Context,
  isAnthropic: boolean,
): Promise<ResponseOf<typeof listModelsEndpoint>> {
  const { object, data } = await listModels(ctx);
  if (!isAnthropic) return { object, data };
  return {
    ...{ object, data: data.map(toAnthropicModel), has_more: false },
    ...{ first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}

/** Returns one model in the client's format. Throws AppError 'model_not_found'. */
export async function answerModel(ctx: Context, id: string, isAnthropic: boolean): Promise<Model> {
  const model = await getModel(ctx, id);
  return isAnthropic ? toAnthropicModel(model) : model;
}

function toAnthropicModel(model: Model): Model {
  const created = new Date(model.created * 1000).toISOString();
  return { ...model, type: 'model', display_name: model.id, created_at: created };
}
