import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { nameText } from './fields/text.ts';
import { fileLink } from './file-links.ts';
import { NAME_LENGTH_MAX } from './limits.ts';

/** The last second of a JavaScript date. */
const MAX_EXPIRES = 8_640_000_000_000;

/** Maximum generations per call. */
export const CHOSEN_MAX = 200;

const chosen = z
  .array(idOf('generation'))
  .min(1, 'Choose at least one picture')
  .max(CHOSEN_MAX, `At most ${CHOSEN_MAX} pictures at a time`)
  .transform((ids) => [...new Set(ids.map((id) => id.toLowerCase()))]);

/** Returns a link that works without a key. With it, the browser can download a zip of any size. */
export const linkZip = endpoint({
  method: 'POST',
  path: '/api/v1/generations/zip',
  access: 'key',
  operation: 'download the pictures',
  scopes: ['read', 'inference'],
  summary: "Create a short-lived link to a zip of these generations' images",
  body: only({ ids: chosen }),
  response: fileLink,
});

export const openZipLink = endpoint({
  method: 'GET',
  path: '/api/v1/pictures.zip',
  access: 'public',
  summary: 'Download the zip behind a link',
  answers: { 'application/zip': null },
  query: z.object({
    /** Owner of the generations. */
    userId: z.string().max(200),
    /** Ids of the link's generations, in compressed form. */
    ids: z.string().max(10_000),
    /** Seconds since 1970. */
    expires: z.coerce.number().int().min(0).max(MAX_EXPIRES),
    signature: z.string().max(100),
  }),
});

/** Caption file of a picture dataset: lines of JSON with `file_name` and `text`. */
export const METADATA = 'metadata.jsonl';
/** Far more lines than a training reads. */
export const METADATA_BYTES_MAX = 16 * 1024 * 1024;

export const addTrainingPictures = endpoint({
  method: 'POST',
  path: '/api/v1/generations/training_pictures',
  access: 'key',
  spends: true,
  summary: 'Add generated images to a training dataset, with their prompts as captions',
  body: only({
    ids: chosen,
    /** A dataset of the caller that is empty or has a metadata.jsonl. By default a new dataset is created. */
    dataset_id: idOf('dataset').optional(),
    /** Title of the new dataset. */
    title: nameText(NAME_LENGTH_MAX).default('Training pictures'),
  }),
  response: z.object({
    dataset_id: z.string(),
    title: z.string(),
    revision_id: z.string(),
    /** Number of pictures that were added, and of pictures that the dataset already had. */
    added: z.int(),
    present: z.int(),
    /** Number of skipped edits. Their prompts describe a change, so they are no captions. */
    left_out: z.int(),
  }),
});
