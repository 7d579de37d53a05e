import { AppError } from '../../../platform/errors.ts';

const readHere = new Set(['prompt', 'model', 'n', 'size', 'response_format', 'output_format']);
/** Fields that don't affect the picture. */
const passedOver = new Set(['user', 'metadata', 'safety_identifier']);

/** Known fields of picture calls, with the values that equal our behaviour. Values of forms are texts. */
const known = new Map<string, readonly unknown[]>([
  // Our only quality level, by its names for two generations of OpenAI's models.
  ['quality', ['auto', 'standard', 'medium']],
  ['background', ['auto']],
  ['moderation', ['auto']],
  ['stream', [false, 'false']],
  ['partial_images', [0, '0']],
  ['style', []],
  ['output_compression', []],
  ['input_fidelity', []],
  ['seed', []],
  ['num_inference_steps', []],
  ['guidance_scale', []],
]);

type Served = {
  model: string;
  /** Models that serve the call. */
  models: readonly string[];
  /** Additional supported fields. */
  fields?: readonly string[];
};

/**
 * Throws AppError 'invalid_request' or 'model_not_found' for a field of OpenAI's images API that the model
 * does not support.
 */
export function refuseUnserved(
  body: { model?: string | null | undefined },
  { model: served, models, fields = [] }: Served,
): void {
  const sent: [string, unknown][] = Object.entries(body);
  for (const [name, value] of sent) {
    if (value === null || value === undefined || readHere.has(name) || passedOver.has(name)) continue;
    if (fields.includes(name) || known.get(name)?.includes(value)) continue;
    throw new AppError('invalid_request', { publicMessage: whyRefused(name), param: name });
  }
  const { model } = body;
  if (model && model !== served) {
    throw new AppError('model_not_found', {
      publicMessage: `There is no model '${model}' that serves this call. Those that do: ${models.join(', ')}`,
      param: 'model',
    });
  }
}

function whyRefused(name: string): string {
  const neutral = known.get(name);
  if (!neutral) return `Unknown parameter: ${name.slice(0, 80)}`;
  const served = [...new Set(neutral.map(String))].join(' or ');
  return served === '' ? `${name} is not supported here` : `${name} must be ${served} here`;
}
