import { type VideoGenerator, videoGenerators } from '@bakehouse/contract/generators';
import { videoModels } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { refused } from '../../platform/errors.ts';
import { findNamedImageDeployment } from '../deployments/images/find-named-image-deployment.ts';
import { findOwnModel } from '../generations/generators/find-own-model.ts';

/** The generator of a video, and the model if the call names one of the caller's. */
type Named = { generator: VideoGenerator; model?: string };

/** Returns the generator with this name, if any. */
export function generatorNamed(name: string): VideoGenerator | undefined {
  return videoGenerators.find((generator) => videoModels[generator].some((known) => known === name));
}

/**
 * Resolves a call's `param` to a generator, a Wan deployment of the caller, or the starter. Throws AppError
 * 'invalid_request'.
 */
export async function findVideoModel(ctx: Context, name: string, param = 'model'): Promise<Named> {
  const generator = generatorNamed(name);
  if (generator) return { generator };
  const deployed = await findNamedImageDeployment(ctx, name, ['wan']);
  if (deployed) return { generator: 'wan', model: deployed.model_name };
  const starter = await findOwnModel(ctx.db, 'wan');
  if (starter?.modelName === name) return { generator: 'wan', model: name };
  const known = [
    ...videoGenerators.map((one) => videoModels[one][0]),
    ...(starter ? [starter.modelName] : []),
  ];
  throw refused(param, `${param} must be one of ${known.join(', ')}, or a Wan deployment of yours`);
}
