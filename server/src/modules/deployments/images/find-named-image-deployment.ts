import { type ImageDeploymentKind, imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { Context } from '../../../platform/context.ts';
import { findLiveDeployment } from '../find-deployments.ts';

type Named = { kind: ImageDeploymentKind; title: string; model_name: string };

/** The caller's deployment of an image model that is asked by this name, until it ends; null where there is none. */
export async function findNamedImageDeployment(ctx: Context, modelName: string): Promise<Named | null> {
  const found = await findLiveDeployment(ctx.db, { userId: ctx.caller.userId, modelName });
  const kind = imageDeploymentKinds.find((one) => one === found?.kind);
  return found && kind ? { kind, title: found.title, model_name: modelName } : null;
}
