import { type VideoGenerator, videoGenerators } from '@bakehouse/contract/generators';
import { videoModels } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { refused } from '../../platform/errors.ts';
import { findNamedImageDeployment } from '../deployments/images/find-named-image-deployment.ts';

/** Which generator makes a video, and with which model, where a call names one of the caller's. */
type Named = { generator: VideoGenerator; model?: string };

/** The generator that goes by this name; undefined where none does. Pure. */
export function generatorNamed(name: string): VideoGenerator | undefined {
  return videoGenerators.find((generator) => videoModels[generator].some((known) => known === name));
}

/** What a call's `model` stands for: a generator, or a Wan deployment of the caller. Throws AppError 'invalid_request'. */
export async function findVideoModel(ctx: Context, name: string): Promise<Named> {
  const generator = generatorNamed(name);
  if (generator) return { generator };
  const deployed = await findNamedImageDeployment(ctx, name, ['wan']);
  if (deployed) return { generator: 'wan', model: deployed.model_name };
  const known = videoGenerators.map((one) => videoModels[one][0]).join(', ');
  throw refused('model', `model must be one of ${known}, or a Wan deployment of yours`);
}
