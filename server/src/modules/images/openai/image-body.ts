import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createImage } from '@bakehouse/contract/images';
import { PARIS_MODEL } from '@bakehouse/contract/paris';
import { AppError } from '../../../platform/errors.ts';
import { readParameters } from '../read-parameters.ts';
import type { Asked } from '../start-generation.ts';

type Body = InputOf<typeof createImage>['body'];

const readHere = new Set(['prompt', 'model', 'n', 'size', 'response_format', 'output_format']);
/** What changes no picture. */
const passedOver = new Set(['user']);
/** The one size that the starter model draws. */
const SIZE = '128x128';
/** Few steps are enough for the starter model, and a program waits for the answer. */
const PARAMETERS = { num_inference_steps: 20, sampling_strategy: 'topk', k: 2 };

/** What OpenAI's call asks for. Throws AppError 'invalid_request' or 'not_found' with the field that is not served. Pure. */
export function readImageBody({ prompt, ...body }: Body): Asked {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined || readHere.has(name) || passedOver.has(name)) continue;
    throw refused(name, `Unknown parameter: ${name.slice(0, 80)}`);
  }
  const { model = PARIS_MODEL, size } = body;
  if (model !== null && model !== PARIS_MODEL) {
    throw new AppError('not_found', {
      publicMessage: `There is no model '${model}' that draws pictures. GET /v1/models lists those that do with task 'image'`,
      param: 'model',
    });
  }
  if (size && size !== 'auto' && size !== SIZE)
    throw refused('size', `size: ${PARIS_MODEL} draws pictures of ${SIZE}`);
  const parameters = { ...PARAMETERS, output_format: body.output_format ?? 'png' };
  return { generator: 'paris', prompt, parameters: readParameters('paris', parameters) };
}

function refused(param: string, publicMessage: string): AppError {
  return new AppError('invalid_request', { publicMessage, param });
}
