import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { flag } from './fields/flag.ts';
import { idOf } from './fields/id.ts';
import { generationOutput } from './generations.ts';
import { generatorNames } from './generators.ts';

/* Links that show a generation to anyone, even without an account. */

export const shareLink = z.object({
  /** Opens the generation's page without a key or session until the link is revoked. */
  url: z.string(),
  created_at: z.string(),
});

const shared = z.object({ share: shareLink });
/** Null if not shared. */
const sharedOrNot = z.object({ share: shareLink.nullable() });

const ofGeneration = {
  path: '/api/v1/generations/:id/share',
  access: 'key',
  params: z.object({ id: idOf('generation') }),
} as const;

export const getGenerationShare = endpoint({
  ...ofGeneration,
  method: 'GET',
  operation: 'load the share link',
  summary: 'Get the share link of a generation',
  response: sharedOrNot,
});

export const shareGeneration = endpoint({
  ...ofGeneration,
  method: 'POST',
  operation: 'share it',
  summary: 'Create a public link to a completed generation; a repeated call returns the same link',
  response: shared,
});

export const unshareGeneration = endpoint({
  ...ofGeneration,
  method: 'DELETE',
  operation: 'stop sharing it',
  summary: 'Revoke the share link of a generation; a new link has a different address',
  status: 204,
});

/** Tokens have 44 characters. */
const token = z.string().max(128);

export const sharedOutput = generationOutput
  .pick({ id: true, media_type: true, width: true, height: true, duration_s: true, has_audio: true })
  .extend({
    /** Works until the share link is revoked. Relative to this server. */
    url: z.string(),
    /** A copy of at most 512 px, or a video's first frame; the same as `url` if there is none. */
    thumbnail_url: z.string(),
  });

/** What the page behind a link shows. */
export const sharedGeneration = z.object({
  generator: z.enum(generatorNames),
  /** Title of the generator. If another generator's starter model was used, also contains that name. */
  title: z.string(),
  prompt: z.string(),
  /** The owner's name; null if the name is an email address, which must not be shown. */
  maker: z.string().nullable(),
  outputs: z.array(sharedOutput),
  created_at: z.string(),
});
export type SharedGeneration = z.infer<typeof sharedGeneration>;

export const getShared = endpoint({
  method: 'GET',
  path: '/api/v1/shares/:token',
  access: 'public',
  operation: 'open the link',
  summary: 'Get the generation behind a share link',
  params: z.object({ token }),
  response: sharedGeneration,
});

export const openSharedOutput = endpoint({
  method: 'GET',
  path: '/api/v1/shares/:token/outputs/:outputId',
  access: 'public',
  summary: 'Show a picture or video behind a share link; supports Range',
  answers: { '*/*': null },
  params: z.object({ token, outputId: idOf('picture') }),
  query: z.object({
    /** Returns the thumbnail, if there is one. */
    thumbnail: flag.optional(),
  }),
});
