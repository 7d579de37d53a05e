import { type ImageDeploymentKind, imageDeploymentKinds } from '@bakehouse/contract/image-deployments';
import type { Context } from '../../../platform/context.ts';
import { selectDeployments } from '../queries.ts';

type Named = { kind: ImageDeploymentKind; title: string; model_name: string };

/** The caller's deployment of an image model that is asked by this name, until it ends; null where there is none. */
export async function findNamedImageDeployment(ctx: Context, modelName: string): Promise<Named | null> {
  const { userId } = ctx.caller;
  const live = await selectDeployments(ctx.db, { userId, includeTerminated: false });
  for (const { kind, title, model_name } of live) {
    const imageKind = imageDeploymentKinds.find((one) => one === kind);
    if (imageKind && model_name === modelName) return { kind: imageKind, title, model_name };
  }
  return null;
}
