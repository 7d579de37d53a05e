import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { nameText } from './fields/text.ts';
import { NAME_LENGTH_MAX } from './limits.ts';

/** The last second that a date of JavaScript can name. */
const MAX_EXPIRES = 8_640_000_000_000;

/** Generations that one call takes. */
export const CHOSEN_MAX = 200;

const chosen = z
  .array(idOf('generation'))
  .min(1, 'Choose at least one picture')
  .max(CHOSEN_MAX, `At most ${CHOSEN_MAX} pictures at a time`)
  .transform((ids) => [...new Set(ids.map((id) => id.toLowerCase()))]);

/** A link opens without a key, so that the browser downloads the zip by itself, however large it is. */
export const linkZip = endpoint({
  method: 'POST',
  path: '/api/v1/generations/zip',
  access: 'key',
  operation: 'download the pictures',
  scopes: ['read', 'inference'],
  summary: "Create a short-lived link to a zip of these generations' images",
  body: only({ ids: chosen }),
  response: z.object({
    /** Relative to this server. */
    url: z.string(),
    expires_at: z.string(),
  }),
});

export const openZipLink = endpoint({
  method: 'GET',
  path: '/api/v1/pictures.zip',
  access: 'public',
  summary: 'Download the zip behind a link',
  answers: { 'application/zip': null },
  query: z.object({
    /** Whose they are. */
    userId: z.string().max(200),
    /** Packed, as the link has them. */
    ids: z.string().max(10_000),
    /** Seconds since 1970. */
    expires: z.coerce.number().int().min(0).max(MAX_EXPIRES),
    signature: z.string().max(100),
  }),
});

/** Where a dataset of pictures has their captions: lines of JSON, each with the `file_name` and the `text` of a picture. */
export const METADATA = 'metadata.jsonl';
/** Far more lines than a training reads pictures. */
export const METADATA_BYTES_MAX = 16 * 1024 * 1024;

export const addTrainingPictures = endpoint({
  method: 'POST',
  path: '/api/v1/generations/training_pictures',
  access: 'key',
  spends: true,
  summary: 'Add generated images to a training dataset, with their prompts as captions',
  body: only({
    ids: chosen,
    /** A dataset of the caller that is empty or has a metadata.jsonl; left out: a new one is made. */
    dataset_id: idOf('dataset').optional(),
    /** Of the new dataset. */
    title: nameText(NAME_LENGTH_MAX).default('Training pictures'),
  }),
  response: z.object({
    dataset_id: z.string(),
    title: z.string(),
    revision_id: z.string(),
    /** Of these pictures, how many are new in the dataset; the others were in it already. */
    added: z.int(),
    present: z.int(),
    /** Edits, which are left out: their prompts say what to change, and not what is seen. */
    left_out: z.int(),
  }),
});
