import { Readable } from 'node:stream';
import { AppError } from '../../../../platform/errors.ts';

const REDIRECTS_MAX = 3;
const BYTES_MAX = 50 * 1024 * 1024;
/** Until it begins to come, over all redirects; and while nothing more of it comes, or is taken. */
const LIMITS = { headersMs: 30_000, stallMs: 30_000 };
/** What a browser shows and runs nothing of: no SVG. */
const TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif']);

/** Whether it is the type of a picture that can do no harm. */
export function isImageType(contentType: string): boolean {
  return TYPES.has(contentType);
}

/** What is answered about every address that is not to be asked. */
export function onlyS3Urls(): AppError {
  return new AppError('invalid_request', {
    publicMessage: 'Only S3 URLs are supported for download',
    param: 'url',
  });
}

/**
 * A picture from one of the addresses that `allowed` begin with; so does each address that a redirect
 * leads to, three at most. One that stands still breaks off. Throws AppError with the sentence to show.
 */
export async function fetchImage(
  url: URL,
  allowed: readonly URL[],
  { headersMs, stallMs } = LIMITS,
): Promise<{ body: Readable; contentType: string }> {
  const end = new AbortController();
  const late = setTimeout(() => end.abort(new Error('A picture did not begin to come')), headersMs);
  const response = await follow(url, allowed, end.signal).finally(() => clearTimeout(late));
  const contentType = response.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const bytes = Number(response.headers.get('content-length') ?? Number.NaN);
  const refusal = refuse(response, { contentType, bytes });
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

function refuse(response: Response, { contentType, bytes }: { contentType: string; bytes: number }) {
  const { status } = response;
  if (status === 404) return new AppError('not_found', { publicMessage: 'Image file not found' });
  if (status === 403) return new AppError('forbidden', { publicMessage: 'Access denied to image file' });
  if (status >= 500) return failed('Server error during download');
  if (!response.ok) return failed('Could not access image file');
  if (!isImageType(contentType))
    return new AppError('invalid_request', { publicMessage: 'Invalid image source', param: 'url' });
  if (bytes === 0) return failed('Image file is empty or corrupted');
  if (bytes > BYTES_MAX)
    return new AppError('payload_too_large', { publicMessage: 'The image is larger than 50 MB' });
  return null;
}

function stream(body: ReadableStream<Uint8Array>, end: AbortController, stallMs: number): Readable {
  const stalled = setTimeout(() => {
    const error = new Error('A picture stood still');
    end.abort(error);
    pieces.destroy(error);
  }, stallMs);
  const pieces = Readable.from(
    limited(body, () => stalled.refresh()),
    { objectMode: false },
  );
  return pieces.once('close', () => clearTimeout(stalled));
}

/** Breaks off what is longer than it may be; its length need not have been said. */
async function* limited(body: ReadableStream<Uint8Array>, onMove: () => void): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    if (bytes > BYTES_MAX) throw new Error('A picture was longer than it may be');
    onMove();
    yield piece;
    onMove();
  }
}

function failed(publicMessage: string, cause?: unknown): AppError {
  return new AppError('unavailable', { publicMessage, cause });
}
