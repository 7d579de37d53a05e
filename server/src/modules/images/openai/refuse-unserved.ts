import { AppError } from '../../../platform/errors.ts';

const readHere = new Set(['prompt', 'model', 'n', 'size', 'response_format', 'output_format']);
/** What changes no picture. */
const passedOver = new Set(['user']);

/**
 * What of a call of OpenAI's images API is not served by the model of that name, which makes pictures of one size; where
 * nobody but the model knows which, `size` is null. Throws AppError 'invalid_request' or 'not_found' with the field. Pure.
 */
export function refuseUnserved(
  body: { model?: string | null | undefined; size?: string | null | undefined },
  served: { model: string; size: string | null },
): void {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined || readHere.has(name) || passedOver.has(name)) continue;
    throw refused(name, `Unknown parameter: ${name.slice(0, 80)}`);
  }
  const { model, size } = body;
  if (model && model !== served.model) {
    throw new AppError('not_found', {
      publicMessage: `There is no model '${model}' that serves this call. GET /v1/models lists those that make pictures with task 'image'`,
      param: 'model',
    });
  }
  if (size && size !== 'auto' && size !== served.size)
    throw refused('size', `size: ${served.model} makes pictures of ${served.size ?? 'a size of its own'}`);
}

function refused(param: string, publicMessage: string): AppError {
  return new AppError('invalid_request', { publicMessage, param });
}
