import * as z from 'zod';

/** Maximum pictures of a chat request, over all of its turns. */
export const CHAT_PICTURES_MAX = 16;
/** Maximum bytes of these pictures together. They are in memory until the answer ends. */
export const CHAT_PICTURE_BYTES_MAX = 8 * 1024 * 1024;
/** Maximum pixels of these pictures together, because a model server decodes all of them. */
export const CHAT_PICTURE_PIXELS_MAX = 40_000_000;
/** Base64 needs four characters for three bytes. */
export const CHAT_PICTURES_ENCODED_MAX = Math.ceil(CHAT_PICTURE_BYTES_MAX / 3) * 4;

/** A `data:` URL, a link of this server, or a public address. */
export const pictureAddress = z
  .string()
  .min(1)
  .max(CHAT_PICTURES_ENCODED_MAX + 200);

/** Has no effect: each model decides how closely it looks. */
export const pictureDetail = z.enum(['auto', 'low', 'high', 'original']).nullish();
