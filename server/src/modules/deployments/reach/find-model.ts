import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { ReadCapacity } from '../../serving/served-model.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import { openStarterServer } from '../servers/open-starter-server.ts';
import { findUpstream, type Upstream } from './upstream.ts';

/** Where the caller's deployment, or else the starter model, of that name answers. Throws AppError 'model_not_found'. */
export async function findModel<Kind extends ServerKindName>(
  ctx: Context,
  parts: ReadCapacity,
  { modelName, kind }: { modelName: string; kind: Kind },
): Promise<Upstream<Kind>> {
  const asked = { userId: ctx.caller.userId, modelName, kind };
  const upstream = await findUpstream(ctx, asked);
  if (upstream) return upstream;
  // The first request for a starter model gives it its server.
  const opened = (await openStarterServer(ctx, parts, asked)) ? await findUpstream(ctx, asked) : undefined;
  if (opened) return opened;
  throw new AppError('model_not_found', {
    publicMessage: `There is no model '${modelName}'. GET /v1/models lists those that answer; deploy a model to add it`,
    param: 'model',
  });
}
