import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createImage } from '@bakehouse/contract/images';
import { PARIS_MODEL } from '@bakehouse/contract/paris';
import { readParameters } from '../start/read-parameters.ts';
import type { Asked } from '../start/start-generation.ts';
import { refuseUnserved } from './refuse-unserved.ts';

type Body = InputOf<typeof createImage>['body'];

/** What the starter model draws. */
const served = { model: PARIS_MODEL, size: '128x128' };
/** Few steps are enough for the starter model, and a program waits for the answer. */
const PARAMETERS = { num_inference_steps: 20, sampling_strategy: 'topk', k: 2 };

/** What OpenAI's call asks for. Throws AppError 'invalid_request' or 'not_found' with the field that is not served. Pure. */
export function readImageBody(body: Body): Asked {
  refuseUnserved(body, served);
  const parameters = { ...PARAMETERS, output_format: body.output_format ?? 'png' };
  return { generator: 'paris', prompt: body.prompt, parameters: readParameters('paris', parameters) };
}
