import { Readable } from 'node:stream';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { downloadImage as downloadImageEndpoint } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import {
  type AppError,
  forbidden,
  invalidParam,
  notFound,
  payloadTooLarge,
  unavailable,
} from '../../../../platform/errors.ts';
import { Answer } from '../../../../platform/http/answer.ts';
import { answerBlob, type FileRequest } from '../../../../platform/storage/answer-blob.ts';
import { contentDisposition, contentTypeOf } from '../content-type.ts';
import { decodePath, readOwnLink } from './file-links.ts';

const REDIRECTS_MAX = 3;
const BYTES_MAX = 50 * 1024 * 1024;

/**
 * `headersMs`: until the response starts, including redirects. `stallMs`: while no data arrives, or the
 * client reads none.
 */
const LIMITS = { headersMs: 30_000, stallMs: 30_000 };

/** Types that a browser shows without running code, so no SVG. */
const TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']);

/**
 * Returns a picture as a download, from one of this server's own links or from a configured S3 address.
 * Requests no other address. Throws AppError with a sentence for the user.
 */
export async function downloadImage(
  services: Services,
  { query }: Pick<InputOf<typeof downloadImageEndpoint>, 'query'>,
  request: FileRequest,
): Promise<Answer> {
  const { publicUrl } = services.config;
  const url = URL.canParse(query.url, publicUrl) ? new URL(query.url, publicUrl) : null;
  if (!url) throw onlyS3Urls();
  const name = query.filename ?? nameIn(url);
  if (url.origin === new URL(publicUrl).origin) return answerOwn(services, { url, name }, request);
  const { body, contentType } = await fetchImage(url, services.config.s3Urls);
  return new Answer(body, { headers: headersOf(contentType, name) });
}

async function answerOwn(
  services: Services,
  { url, name }: { url: URL; name: string },
  request: FileRequest,
): Promise<Answer> {
  const file = await readOwnLink(services, url);
  if (!file) throw onlyS3Urls();
  const { contentType } = contentTypeOf(file.path);
  if (!isImageType(contentType)) throw invalidParam('url', 'Invalid image source');
  const headers = headersOf(contentType, name);
  return answerBlob(services, request, { ...file, headers });
}

function headersOf(contentType: string, name: string): Record<string, string> {
  return {
    'content-type': contentType,
    'content-disposition': contentDisposition('attachment', name),
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'cache-control': 'private, no-store',
  };
}

function nameIn(url: URL): string {
  return decodePath(url.pathname).split('/').at(-1) || 'image';
}

/** Returns true if the content type is a harmless picture type. */
function isImageType(contentType: string): boolean {
  return TYPES.has(contentType);
}

/** Returns the error for every address that is not allowed. */
function onlyS3Urls(): AppError {
  return invalidParam('url', 'Only S3 URLs are supported for download');
}

/**
 * Fetches a picture, following up to three redirects. Each address must start with an element of `allowed`.
 * Aborts a stalled response. Throws AppError with a sentence for the user.
 */
export async function fetchImage(
  url: URL,
  allowed: readonly URL[],
  { headersMs, stallMs } = LIMITS,
): Promise<{ body: Readable; contentType: string }> {
  const end = new AbortController();
  const late = setTimeout(() => end.abort(new Error('Picture request timed out')), headersMs);
  const response = await follow(url, allowed, end.signal).finally(() => clearTimeout(late));
  const contentType = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const bytes = Number(response.headers.get('content-length') ?? Number.NaN);
  const refusal = toImageError(response, { contentType, bytes });
  if (refusal || !response.body) {
    await response.body?.cancel();
    throw refusal ?? failed('Image file is empty or corrupted');
  }
  return { body: stream(response.body, end, stallMs), contentType };
}

async function follow(start: URL, allowed: readonly URL[], signal: AbortSignal): Promise<Response> {
  let url = start;
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    if (!allowed.some((prefix) => isWithin(url, prefix))) throw onlyS3Urls();
    const response = await fetch(url.href, { redirect: 'manual', signal }).catch((cause: unknown) => {
      throw failed('Could not access image file', cause);
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    if (!URL.canParse(location, url.href)) throw onlyS3Urls();
    url = new URL(location, url);
  }
  throw failed('Could not access image file');
}

function isWithin(url: URL, prefix: URL): boolean {
  const folder = prefix.pathname.endsWith('/') ? prefix.pathname : `${prefix.pathname}/`;
  const named = url.username !== '' || url.password !== '';
  return !named && url.origin === prefix.origin && url.pathname.startsWith(folder);
}

function toImageError(response: Response, { contentType, bytes }: { contentType: string; bytes: number }) {
  const { status } = response;
  if (status === 404) return notFound('Image file');
  if (status === 403) return forbidden('Access denied to image file');
  if (status >= 500) return failed('Server error during download');
  if (!response.ok) return failed('Could not access image file');
  if (!isImageType(contentType)) return invalidParam('url', 'Invalid image source');
  if (bytes === 0) return failed('Image file is empty or corrupted');
  if (bytes > BYTES_MAX) return payloadTooLarge('The picture is larger than 50 MB');
  return null;
}

function stream(body: ReadableStream<Uint8Array>, end: AbortController, stallMs: number): Readable {
  const stalled = setTimeout(() => {
    const error = new Error('picture download stalled');
    end.abort(error);
    pieces.destroy(error);
  }, stallMs);
  const pieces = Readable.from(
    limited(body, () => stalled.refresh()),
    { objectMode: false },
  );
  return pieces.once('close', () => clearTimeout(stalled));
}

/** Aborts at the maximum size, because the length header may be missing. */
async function* limited(body: ReadableStream<Uint8Array>, onMove: () => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > BYTES_MAX) throw new Error('Picture exceeds the maximum size');
    onMove();
    yield piece;
    onMove();
  }
}

function failed(publicMessage: string, cause?: unknown): AppError {
  return unavailable(publicMessage, { cause });
}
