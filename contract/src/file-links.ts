import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { text } from './fields/text.ts';

const linkDispositions = ['attachment', 'inline'] as const;
/** The last second that a date of JavaScript can name. */
const MAX_EXPIRES = 8_640_000_000_000;

/** A link opens without a key, so that a browser can show a file or download it by itself. */
export const linkFile = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/link',
  access: 'key',
  operation: 'download file',
  summary: 'Create a short-lived file link, for `<img>`, `<video>` and browser downloads',
  params: z.object({ id: idOf('dataset or model') }),
  query: z.object({
    path: z.string().min(1),
    revision_id: idOf('revision').optional(),
    /** `inline` shows pictures, videos and sounds in their place; other files can only be downloaded. */
    disposition: z.enum(linkDispositions).default('attachment'),
  }),
  response: z.object({
    /** Relative to this server, unless its files are stored elsewhere. */
    url: z.string(),
    expires_at: z.string(),
  }),
});

export const openFileLink = endpoint({
  method: 'GET',
  path: '/api/v1/files/:sha256/*',
  access: 'public',
  summary: 'Download the file behind a link; supports Range',
  answers: { '*/*': null },
  params: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/, 'Not a SHA-256'), '*': z.string().min(1) }),
  query: z.object({
    disposition: z.enum(linkDispositions),
    /** Seconds since 1970. */
    expires: z.coerce.number().int().min(0).max(MAX_EXPIRES),
    /** Who has made the link: it opens what they may read. */
    user: z.string().max(200),
    /** The dataset or model that the file is in, unless it is a picture that was generated or uploaded. */
    asset: idOf('dataset or model').optional(),
    /** The revision that it is in, where that was asked for. */
    revision: idOf('revision').optional(),
    signature: z.string().max(100),
  }),
});

/** For the web app, which offers what a generator has made as a download. */
export const downloadImage = endpoint({
  method: 'GET',
  path: '/api/download-image',
  access: 'public',
  summary: 'Download an image by a link of this server or an allowed S3 address',
  answers: { '*/*': null },
  query: z.object({
    url: z.string('Image URL not provided').min(1, 'Image URL not provided').max(4_000, 'url is too long'),
    /** The name in the address unless said. */
    filename: text('filename', 200).min(1).optional(),
  }),
});
