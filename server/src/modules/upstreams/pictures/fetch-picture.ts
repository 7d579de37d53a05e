import { AppError } from '../../../platform/errors.ts';
import { type PictureHeader, readPictureHeader } from './picture-header.ts';

export type FetchedPicture = PictureHeader & { bytes: Buffer };

const FETCH_MS = 60_000;
const BYTES_MAX = 20 * 1024 * 1024;
const PIXELS_MAX = 40_000_000;

type Source = {
  address: string;
  /** Where the service itself answers: what it serves there is fetched too, and all else by https. */
  serviceUrl: string;
  title: string;
  signal: AbortSignal;
};

/**
 * A picture that a service has drawn. Throws AppError 'unavailable' where its address is dead or names no public place,
 * or what comes is too large, or no picture; or the signal's reason.
 */
export async function fetchPicture({ address, serviceUrl, title, signal }: Source): Promise<FetchedPicture> {
  const fail = (what: string, cause?: unknown) =>
    new AppError('unavailable', { publicMessage: `${title} drew it, but ${what}`, cause });
  const bytes = await download(new URL(address), new URL(serviceUrl), signal).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : fail('its picture could not be fetched', error);
  });
  const header = readPictureHeader(bytes);
  if (!header) throw fail('what came is no picture, or one that is cut off');
  if (header.width * header.height > PIXELS_MAX) throw fail('its picture is too large');
  return { ...header, bytes };
}

async function download(address: URL, service: URL, signal: AbortSignal): Promise<Buffer> {
  if (address.origin !== service.origin && !isPublic(address))
    throw new Error(`a picture at ${address.origin}, which is no public place`);
  const answer = await fetch(address, {
    redirect: 'error',
    signal: AbortSignal.any([AbortSignal.timeout(FETCH_MS), signal]),
  });
  if (!answer.ok) throw new Error(`${answer.status} from ${address.host}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > BYTES_MAX) throw new Error(`a picture of more than ${BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A name of the public web: whoever answers there proves it by a certificate for that name. */
function isPublic({ protocol, hostname, port }: URL): boolean {
  return protocol === 'https:' && port === '' && /^([a-z0-9-]+\.)+[a-z]{2,}$/.test(hostname);
}
