import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';

/** The captions that a training reads beside the pictures of a dataset. */

/** Pictures that a training takes at most. */
export const CAPTIONS_MAX = 2000;
/** Bytes of one that training reads. */
export const CAPTION_LENGTH_MAX = 4000;

const assetIdParams = z.object({ id: idOf('dataset or model') });

const place = {
  /** The picture. */
  path: z.string().min(1, 'path is required').max(4096),
  /** Its line in `file_name`, from 1; null: its caption is, or would be, a text file or line of its own. */
  line: z.int().min(1).max(1_000_000).nullable(),
};

const captions = z.object({
  /** The commit that they are saved on. */
  commit_id: z.string(),
  revision_id: z.string().nullable(),
  /** The file that they are in; null: a text file of the same name beside each picture. */
  file_name: z.string().nullable(),
  captions: z.array(z.object({ ...place, /** Empty: it has none. */ text: z.string() })),
});

export type Captions = z.infer<typeof captions>;

export const getCaptions = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/captions',
  access: 'key',
  operation: 'read the captions',
  summary: 'Get the caption of each picture of a dataset, as training reads it',
  params: assetIdParams,
  response: captions,
});

/** They go where the others are: into `metadata.jsonl` where the dataset has one, or else beside each picture. */
export const saveCaptions = endpoint({
  method: 'PUT',
  path: '/api/v1/asset/:id/captions',
  access: 'key',
  operation: 'save the captions',
  summary: 'Save captions of pictures as one commit',
  params: assetIdParams,
  // All captions of two bytes a character; parsing a larger body would hold the event loop.
  bodyBytesMax: 16 * 1024 * 1024,
  body: only({
    parent_commit: z
      .string('parent_commit is required')
      .regex(/^[0-9a-f]{40}$/, 'parent_commit must be the id of a commit')
      .describe('The newest commit. Where another has been made since, nothing is saved.'),
    /** Those that change; an empty text takes a caption away. */
    captions: z
      .array(
        only({
          ...place,
          text: z.string().max(CAPTION_LENGTH_MAX, `A caption has at most ${CAPTION_LENGTH_MAX} characters`),
        }),
      )
      .min(1, 'captions is empty')
      .max(CAPTIONS_MAX, `captions can hold at most ${CAPTIONS_MAX}`),
  }),
  response: z.object({ commit_id: z.string() }),
});
