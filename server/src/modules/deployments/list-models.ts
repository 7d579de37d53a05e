import type { listModels as contract } from '@bakehouse/contract/chat';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { listStarterModels } from '../assets/starter-models.ts';
import { toModelName } from './model-name.ts';
import { listDeployments } from './queries.ts';

/** The caller's deployments and the starter models, as OpenAI clients list models. */
export async function listModels(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const own = await listDeployments(ctx.db, { userId: ctx.caller.userId, includeTerminated: false });
  const starters = await listStarterModels(ctx.db);
  const seconds = (date: Date) => Math.floor(date.getTime() / 1000);
  return {
    object: 'list',
    data: [
      ...own.map((deployment) => ({
        id: deployment.model_name,
        object: 'model' as const,
        created: seconds(deployment.created_at),
        owned_by: ctx.caller.userId,
        parent: deployment.adapter_file === null ? null : toModelName(deployment.base_model_title),
      })),
      ...starters.map((starter) => ({
        id: starter.modelName,
        object: 'model' as const,
        created: seconds(starter.createdAt),
        owned_by: 'bakehouse',
        parent: null,
      })),
    ],
  };
}
