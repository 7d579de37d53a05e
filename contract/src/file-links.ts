import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { text } from './fields/text.ts';

const linkDispositions = ['attachment', 'inline'] as const;
/** The last second of a JavaScript date. */
const MAX_EXPIRES = 8_640_000_000_000;

export const fileLink = z.object({
  /** Address relative to this server, or absolute if files are stored elsewhere. */
  url: z.string(),
  expires_at: z.string(),
});

/** A link that works without a key, so that a browser can show or download a file. */
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
    /** `inline` lets the browser show pictures, videos and audio. Other files can only be downloaded. */
    disposition: z.enum(linkDispositions).default('attachment'),
  }),
  response: fileLink,
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
    /** The user who created the link. The link has the permissions of that user. */
    user: z.string().max(200),
    /** The file's dataset or model; absent for generated and uploaded pictures. */
    asset: idOf('dataset or model').optional(),
    /** The requested revision, if any. */
    revision: idOf('revision').optional(),
    signature: z.string().max(100),
  }),
});

/** Lets the web app download generated files. */
export const downloadImage = endpoint({
  method: 'GET',
  path: '/api/download-image',
  access: 'public',
  summary: 'Download an image by a link of this server or an allowed S3 address',
  answers: { '*/*': null },
  query: z.object({
    url: z.string('Image URL not provided').min(1, 'Image URL not provided').max(4_000, 'url is too long'),
    /** Defaults to the name in the URL. */
    filename: text('filename', 200).min(1).optional(),
  }),
});
