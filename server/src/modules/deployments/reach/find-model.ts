import type { Context } from '../../../platform/context.ts';
import { invalidParam, modelNotFound } from '../../../platform/errors.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { ReadCapacity } from '../../serving/served-model.ts';
import type { ServerKindName } from '../../serving/server-kinds.ts';
import { findLiveDeployment } from '../find-deployments.ts';
import { deploymentKinds, type KindName } from '../kinds/kinds.ts';
import { openStarterServer } from '../servers/open-starter-server.ts';
import { findUpstream, type Upstream } from './upstream.ts';

/**
 * Returns the caller's deployment with this name, otherwise the starter model. Throws AppError
 * 'model_not_found'.
 */
export async function findModel<Kind extends ServerKindName>(
  ctx: Context,
  parts: ReadCapacity,
  { modelName, kind }: { modelName: string; kind: Kind },
): Promise<Upstream<Kind>> {
  const asked = { userId: ctx.caller.userId, modelName, kind };
  const upstream = await findUpstream(ctx, asked);
  if (upstream) return upstream;
  await assertModelKind(ctx, asked);
  // A starter model has no server before its first request, so create one.
  const opened = (await openStarterServer(ctx, parts, asked)) ? await findUpstream(ctx, asked) : undefined;
  if (opened) return opened;
  throw modelNotFound(
    `There is no model '${modelName}'. GET /v1/models lists the available models; deploy a model to add it`,
  );
}

/** Throws AppError 'invalid_request' if a model of another kind has this name, e.g. an embedding model. */
async function assertModelKind(
  ctx: Context,
  { modelName, kind }: { modelName: string; kind: ServerKindName },
): Promise<void> {
  const own = await findLiveDeployment(ctx.db, { userId: ctx.caller.userId, modelName });
  const makes = own
    ? deploymentKinds[own.kind as KindName].server
    : (await findStarterModel(ctx.db, modelName))?.task;
  if (makes === undefined || makes === kind || ![makes, kind].includes('embedding')) return;
  throw invalidParam('model', `${modelName} ${elsewhere[makes]}`);
}

const elsewhere: Record<ServerKindName, string> = {
  text: 'writes text: ask POST /v1/chat/completions',
  embedding: 'makes embeddings, and writes no text: ask POST /v1/embeddings',
  image: 'makes pictures: ask POST /v1/images/generations',
};
