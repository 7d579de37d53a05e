import * as z from 'zod';
import { userIdParams } from './accounts.ts';
import { endpoint, type KeyScope } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { promptText } from './generations.ts';
import { PICTURE_BYTES_MAX } from './media.ts';

/*
 * Edits pictures over the original product's API: a form whose values are text, and an answer that waits for
 * the picture.
 */

/* JSON requests have the same fields with native values. */

const flag = z
  .union([z.boolean(), z.enum(['true', 'false', '1', '0'])], 'must be one of 0, 1, true, false')
  .transform((value) => value === true || value === 'true' || value === '1');
/** An empty form field counts as absent. */
const number = z
  .union(
    [
      z.number(),
      z.null(),
      z
        .string()
        .trim()
        .regex(/^(|null|[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/i, 'must be a number'),
    ],
    'must be a number',
  )
  .transform((value) => (value === '' || value === 'null' || value === null ? undefined : Number(value)))
  .pipe(z.number().optional());

export const editFields = z.object({
  prompt: promptText,
  user_id: z.string().max(200).optional(),
  guidance_scale: number.optional(),
  num_inference_steps: number.optional(),
  seed: number.optional(),
  /** With `base64`, `image_url` is a `data:` URL. */
  return_format: z.enum(['url', 'base64']).default('url'),
  /** With true, the stored picture is not read again to verify its hash. */
  skip_integrity_check: flag.default(false),
});

export const editedImage = z.object({
  image_url: z.string(),
  /** The generation's id. */
  image_id: z.string(),
  guidance_scale: z.number(),
  num_inference_steps: z.int(),
  seed: z.number(),
  /** In seconds. */
  inference_time: z.number(),
  integrity_checked: z.boolean(),
});

/** The `inference_url` of a starter model. */
export const starterAddress = '/v1/starters/:model';
const starterParams = z.object({ model: z.string().min(1).max(200) });
const deploymentParams = z.object({ podId: idOf('deployment') });
/** A `data:` URL of the largest picture: base64 plus escaping. */
const FORM_BYTES_MAX = 1.5 * PICTURE_BYTES_MAX;

/** An error with status 402 contains `error` and `required_amount`. */
const edit = {
  method: 'POST',
  access: 'key',
  scopes: ['inference'] satisfies KeyScope[],
  spends: true,
  upload: { part: 'file', fields: editFields },
  isHeldInMemory: true,
  response: editedImage,
} as const;
export const editUrlBody = z.looseObject({
  ...editFields.shape,
  /** `https:`, `http:` or `data:`; also a link of this server. */
  image_url: z.string().min(1),
});
const editUrl = {
  method: 'POST',
  access: 'key',
  scopes: ['inference'] satisfies KeyScope[],
  spends: true,
  body: editUrlBody,
  isForm: true,
  bodyBytesMax: FORM_BYTES_MAX,
  isHeldInMemory: true,
  response: editedImage,
} as const;

export const editWithStarter = endpoint({
  ...edit,
  path: `${starterAddress}/edit`,
  summary: 'Edit an image with the starter model and wait for the result',
  params: starterParams,
});

export const editUrlWithStarter = endpoint({
  ...editUrl,
  path: `${starterAddress}/edit_url`,
  summary: 'Edit the image at a public URL with the starter model and wait for the result',
  params: starterParams,
});

export const editWithDeployment = endpoint({
  ...edit,
  path: '/v1/deployments/:podId/edit',
  summary: 'Edit an image with your Kontext deployment and wait for the result',
  params: deploymentParams,
});

export const editUrlWithDeployment = endpoint({
  ...editUrl,
  path: '/v1/deployments/:podId/edit_url',
  summary: 'Edit the image at a public URL with your Kontext deployment and wait for the result',
  params: deploymentParams,
});

export const listKontextImages = endpoint({
  method: 'GET',
  path: '/api/v1/generated/images/user/:userId/flux-kontext',
  access: 'key',
  summary: 'List the latest 100 edits',
  params: userIdParams,
  response: z.object({
    images: z.array(
      z.object({
        /** Both are the generation's id. */
        id: z.string(),
        image_id: z.string(),
        status: z.enum(['processing', 'completed', 'failed', 'cancelled']),
        prompt: z.string(),
        edit_description: z.string(),
        created_at: z.string(),
        /** Null until completed. */
        image_url: z.string().nullable(),
        download_url: z.string().nullable(),
        /** Null unless this server's files are in S3. */
        s3_image_url: z.string().nullable(),
        /** These three are null if the provider does not support them. */
        guidance_scale: z.number().nullable(),
        num_inference_steps: z.int().nullable(),
        seed: z.number().nullable(),
        model: z.string(),
        /** Why it failed; otherwise null. */
        error: z.string().nullable(),
        file_size_mb: z.number().nullable(),
        parameters: z.record(z.string(), z.unknown()),
      }),
    ),
  }),
});

export const deleteKontextImage = endpoint({
  method: 'DELETE',
  path: '/api/v1/generated/images/:id/flux-kontext',
  access: 'key',
  scopes: ['inference'],
  summary: 'Delete an edit and its output',
  params: z.object({ id: idOf('picture') }),
  status: 204,
});
