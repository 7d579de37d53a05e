import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import type { Context } from '../../../platform/context.ts';
import { findLiveDeployment } from '../find-deployments.ts';

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
