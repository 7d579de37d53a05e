import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** Limits for a picture to edit, checked by the form and again by the server. */
export const PICTURE_BYTES_MAX = 20 * 1024 * 1024;
/**
 * Maximum number of pixels. Checked before decoding, because a small file may contain a very large picture.
 */
export const PICTURE_PIXELS_MAX = 40_000_000;
/**
 * Maximum ratio of the longer to the shorter side, because full-size models draw a fixed number of pixels in
 * the picture's ratio.
 */
export const PICTURE_RATIO_MAX = 16;
/**
 * Maximum number of scans of a JPEG. Each scan is a pass over all pixels. Common encoders write about ten.
 */
export const JPEG_SCANS_MAX = 20;
/**
 * Maximum number of segments or chunks of a file. Each may be only four bytes long, but takes a parsing step.
 * Common encoders write at most thousands.
 */
export const PICTURE_PARTS_MAX = 50_000;
/** In lists, larger pictures are shown as a thumbnail whose longer side has at most this many pixels. */
export const THUMBNAIL_SIDE_MAX = 512;
/** Limits for generated videos. */
export const VIDEO_BYTES_MAX = 256 * 1024 * 1024;
export const VIDEO_SECONDS_MAX = 600;
export const VIDEO_SIDE_MAX = 8192;
export const videoType = 'video/mp4';
export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

export const pictureMessages = {
  tooLarge: 'The picture is larger than 20 MB',
  tooManyPixels: 'The picture has more than 40 megapixels',
  tooNarrow: 'The picture is too narrow: one side is more than 16 times as long as the other',
  type: 'The picture must be a PNG, JPEG or WebP file',
  animated: 'The picture is an animation. Send a single picture',
  tooManyScans: `The JPEG has more than ${JPEG_SCANS_MAX} scans, each of which is decoded over the whole picture. Save it as a JPEG that is not progressive`,
  tooManyParts: 'The picture is stored in too many pieces. Save it again and send that',
  broken: 'The picture is damaged or incomplete',
} as const;

export const videoMessages = {
  tooLarge: 'The video is larger than 256 MB',
  type: 'The video must be an MP4 file',
  tooLong: `The video is longer than ${VIDEO_SECONDS_MAX / 60} minutes`,
  tooManyPixels: `The video has more than ${VIDEO_SIDE_MAX} pixels on a side`,
  broken: 'The video is damaged or incomplete',
} as const;

/** multipart/form-data with one part named `file`. Stored for a day, or longer if a generation uses it. */
export const uploadPicture = endpoint({
  method: 'POST',
  path: '/api/v1/pictures',
  access: 'key',
  scopes: ['inference'],
  summary: 'Upload an image to edit: PNG, JPEG or WebP, at most 20 MB',
  upload: { part: 'file' },
  isHeldInMemory: true,
  status: 201,
  response: z.object({
    id: z.string(),
    /** Works without a key for a while; relative to this server, unless files are stored elsewhere. */
    url: z.string(),
    media_type: z.enum(pictureTypes),
    width: z.int(),
    height: z.int(),
    size_bytes: z.number(),
  }),
});
