import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';

/** Captions of a dataset's pictures for training. */

/** Maximum number of pictures for a training. */
export const CAPTIONS_MAX = 2000;
/** Maximum bytes of a caption. */
export const CAPTION_LENGTH_MAX = 4000;

const assetIdParams = z.object({ id: idOf('dataset or model') });

const place = {
  /** Path of the picture. */
  path: z.string().min(1, 'path is required').max(4096),
  /**
   * Number of the picture's line in `file_name`, from 1. Null if the caption is in, or would be saved to, a
   * text file or a line of its own.
   */
  line: z.int().min(1).max(1_000_000).nullable(),
};

export const captions = z.object({
  /** The newest commit. Send it as the parent when saving. */
  commit_id: z.string(),
  revision_id: z.string().nullable(),
  /** The file with the captions; null if each picture has its own text file. */
  file_name: z.string().nullable(),
  captions: z.array(z.object({ ...place, /** Empty if it has no caption. */ text: z.string() })),
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

/** Saves captions where the others are: in `metadata.jsonl` if it exists, else next to each picture. */
export const saveCaptions = endpoint({
  method: 'PUT',
  path: '/api/v1/asset/:id/captions',
  access: 'key',
  operation: 'save the captions',
  summary: 'Save captions of pictures as one commit',
  params: assetIdParams,
  // Space for all captions with two bytes per character. Parsing a larger body would block the event loop.
  bodyBytesMax: 16 * 1024 * 1024,
  body: only({
    parent_commit: z
      .string('parent_commit is required')
      .regex(/^[0-9a-f]{40}$/, 'parent_commit must be the id of a commit')
      .describe('The newest commit. If a later commit exists, nothing is saved.'),
    /** Only the changed captions. An empty text deletes a caption. */
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
