import * as z from 'zod';
import { userIdParams } from './accounts.ts';
import { generationEstimate } from './credits.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { promptText } from './generations.ts';
import type { GeneratorField } from './generators/generator.ts';
import { PARIS_MODEL, paris } from './generators/paris.ts';

/** Returns the schema of a form field for a call that accepts any value. Limits are only documented. */
function leniently(name: string) {
  const field = paris.fields.find((one) => one.name === name);
  if (!field) throw new Error(`Paris has no field ${name}`);
  return z.unknown().optional().describe(describeField(field));
}

function describeField(field: GeneratorField): string {
  switch (field.kind) {
    case 'number':
      return `${field.label}: a number from ${field.min} to ${field.max}; defaults to ${field.fallback ?? field.default}. Values outside the range are clamped.`;
    case 'seed':
      return `${field.label}: a whole number from 0 to ${field.max}; random by default.`;
    case 'choice':
      return `${field.label}: ${field.options.map(({ value }) => `'${value}'`).join(', ')}.`;
    default:
      return field.label;
  }
}

/**
 * Fields of the Paris page in the original product's format. Invalid values are not rejected but corrected,
 * as in its form (`generators/parameters/clamp-paris.ts`).
 */
const parameters = {
  cfg_scale: leniently('cfg_scale'),
  num_inference_steps: leniently('num_inference_steps'),
  sampling_strategy: leniently('sampling_strategy'),
  k: leniently('k'),
  seed: leniently('seed'),
  output_format: leniently('output_format'),
};

export const parisBody = z.looseObject({
  ...parameters,
  model: z.literal(PARIS_MODEL, `model: this call generates with ${PARIS_MODEL} alone`).default(PARIS_MODEL),
  prompt: promptText,
});

export const parisImage = z.object({
  id: z.string(),
  url: z.string(),
  b64_json: z.string().nullable(),
  revised_prompt: z.string().nullable(),
  cfg_scale: z.number(),
  num_inference_steps: z.int(),
  sampling_strategy: z.enum(['top1', 'topk', 'full']),
  k: z.int(),
  seed: z.number(),
  output_format: z.enum(['png', 'jpeg', 'webp']),
  expert_used: z.int().nullable(),
  routing_confidence: z.number().nullable(),
  /** In seconds. */
  generation_time: z.number().nullable(),
  model: z.string(),
  generation_id: z.string(),
  /** Null unless this server's files are in S3. */
  s3_url: z.string().nullable(),
  width: z.int(),
  height: z.int(),
});

export const parisGeneration = z.object({
  /** The generation's id. */
  request_id: z.string(),
  status: z.enum(['processing', 'completed']),
  /** Empty while the picture is generated; the status is then 202. */
  images: z.array(parisImage),
});

/** Waits up to 35 s for the picture, and returns 202 if it is not complete by then. */
export const generateParisImage = endpoint({
  method: 'POST',
  path: '/api/external-paris-generation',
  access: 'key_or_session',
  scopes: ['inference'],
  spends: true,
  summary: 'Generate an image with Paris and wait for the result',
  body: parisBody,
  response: parisGeneration,
  pendingStatus: 202,
});

/** If an active or recent generation has the same body, returns it. Otherwise starts one. */
export const pollParis = endpoint({
  method: 'POST',
  path: '/v1/external/paris/images/generations',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  summary: 'Generate a picture with Paris, or get the running picture with the same body',
  body: parisBody,
  response: parisGeneration,
  pendingStatus: 202,
});

export const estimateParis = endpoint({
  method: 'POST',
  path: '/v1/external/estimate',
  access: 'key',
  scopes: ['read', 'inference'],
  summary: 'Estimate the cost of a Paris image',
  body: z.looseObject({ ...parameters, model: z.string().max(100).default(PARIS_MODEL) }),
  response: generationEstimate,
});

export const listParisImages = endpoint({
  method: 'GET',
  path: '/api/v1/generated/images/user/:userId/paris-ddm-v1.0',
  access: 'key',
  summary: 'List the latest 20 Paris images',
  params: userIdParams,
  response: z.object({ images: z.array(parisImage.extend({ prompt: z.string(), created_at: z.string() })) }),
});

export const deleteParisImage = endpoint({
  method: 'DELETE',
  path: '/api/v1/generated/images/:id/paris-ddm-v1.0',
  access: 'key',
  scopes: ['inference'],
  summary: 'Delete a Paris image',
  params: z.object({ id: idOf('picture') }),
  status: 204,
});
