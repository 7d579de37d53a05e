import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/media';
import type { Context } from '../../../platform/context.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { fetchPublic } from '../../../platform/http/addresses/fetch-public.ts';
import { readOwnLink } from '../../assets/files/links/read-own-link.ts';
import { collectPicture } from '../../media/collect-picture.ts';
import type { InputPicture } from './picture-queries.ts';
import { describePicture, storePicture } from './store-picture.ts';

/** Longer than any address that this server issues. */
const ADDRESS_LENGTH_MAX = 8_000;
const DATA_URL = /^\s*data:([^,]*),/i;

/**
 * Returns the picture at a `data:` URL, a link of this server, or a public URL. Throws AppError
 * 'invalid_request' with the field for any other address, and for a picture that cannot be edited. `signal`
 * aborts the fetch: a disconnected client has released its place among the pictures held in memory.
 */
export async function fetchPicture(
  ctx: Context,
  address: string,
  { param, signal }: { param: string; signal: AbortSignal },
): Promise<InputPicture> {
  const data = DATA_URL.exec(address.slice(0, ADDRESS_LENGTH_MAX));
  if (data) return storePicture(ctx, readDataUrl(data, address, param), param);
  if (address.length > ADDRESS_LENGTH_MAX)
    throw refused(
      param,
      `${param} must have at most ${ADDRESS_LENGTH_MAX} characters, unless it is a data URL`,
    );
  const { publicUrl } = ctx.config;
  if (!URL.canParse(address, publicUrl)) throw refused(param, `${param} is not a valid URL`);
  const url = new URL(address, publicUrl);
  if (url.origin === new URL(publicUrl).origin) {
    const own = await readOwnLink(ctx, url);
    if (!own) throw refused(param, `${param} is an address of this server, but no link to a file`);
    return describePicture(ctx, own, param);
  }
  return storePicture(ctx, await collectPicture(await fetchPublic(url, { param, signal }), param), param);
}

/** As long as the picture itself, so it is split without parsing it as a URL. */
function readDataUrl([head, type = '']: RegExpExecArray, address: string, param: string): Buffer {
  if (!/;base64$/i.test(type)) throw refused(param, `${param}: a data URL has its picture in base64`);
  const bytes = Buffer.from(unescaped(address.slice(head.length)), 'base64');
  if (bytes.length > PICTURE_BYTES_MAX)
    throw new AppError('payload_too_large', { publicMessage: pictureMessages.tooLarge, param });
  return bytes;
}

/**
 * Base64 may have '+', '/' and '=' percent-encoded; other encodings are invalid. Replacing millions of
 * escapes one by one would block the server for seconds.
 */
function unescaped(written: string): string {
  if (!written.includes('%')) return written;
  try {
    return decodeURIComponent(written);
  } catch (error) {
    if (error instanceof URIError) return '';
    throw error;
  }
}
