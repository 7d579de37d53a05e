import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/media';
import type { Services } from '../../platform/context.ts';
import { invalidParam, payloadTooLarge } from '../../platform/errors.ts';
import { fetchPublic } from '../../platform/http/addresses/fetch-public.ts';
import { readOwnLink } from '../assets/files/links/file-links.ts';
import { collectPicture } from './receive-picture.ts';

/** Longer than any address that this server issues. */
const ADDRESS_LENGTH_MAX = 8_000;

const DATA_URL = /^\s*data:([^,]*),/i;

type StoredFile = { sha256: string; path: string; sizeBytes: number };

/**
 * Returns the bytes at a `data:` URL or a public URL, or the stored file behind a link of this server. Throws
 * AppError 'invalid_request' with the field for any other address. `signal` aborts the fetch, so that a
 * disconnected client does not hold a picture in memory. Bytes beyond `bytesMax` are not read.
 */
export async function readPictureAddress(
  services: Services,
  address: string,
  { param, signal, bytesMax = PICTURE_BYTES_MAX }: { param: string; signal: AbortSignal; bytesMax?: number },
): Promise<Buffer | StoredFile> {
  const data = DATA_URL.exec(address.slice(0, ADDRESS_LENGTH_MAX));
  if (data) return readDataUrl(data, address, { param, bytesMax });
  if (address.length > ADDRESS_LENGTH_MAX)
    throw invalidParam(
      param,
      `${param} must have at most ${ADDRESS_LENGTH_MAX} characters, unless it is a data URL`,
    );
  const { publicUrl } = services.config;
  if (!URL.canParse(address, publicUrl)) throw invalidParam(param, `${param} is not a valid URL`);
  const url = new URL(address, publicUrl);
  if (url.origin !== new URL(publicUrl).origin)
    return collectPicture(await fetchPublic(url, { param, signal }), param, bytesMax);
  const own = await readOwnLink(services, url);
  if (!own) throw invalidParam(param, `${param} is an address of this server, but no link to a file`);
  return own;
}

/** Decodes a `data:` URL. It is split by hand, because parsing 20 MB as a URL would be slow. */
function readDataUrl(
  [head, type = '']: RegExpExecArray,
  address: string,
  { param, bytesMax }: { param: string; bytesMax: number },
): Buffer {
  if (!/;base64$/i.test(type)) throw invalidParam(param, `${param}: a data URL has its picture in base64`);
  const bytes = Buffer.from(unescaped(address.slice(head.length)), 'base64');
  if (bytes.length > bytesMax) throw payloadTooLarge(pictureMessages.tooLarge, { param });
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
