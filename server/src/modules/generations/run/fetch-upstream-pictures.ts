import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { AppError } from '../../../platform/errors.ts';
import { fetchPublic } from '../../../platform/http/addresses/fetch-public.ts';
import { collectPicture } from '../../media/collect-picture.ts';
import { BadPicture, inspectPicture } from '../../media/inspect-picture.ts';
import type { UpstreamPictures } from '../../providers/generate-upstream.ts';

/** What errors name, which nobody has sent. */
const PARAM = 'picture';
/** A connection may break: it is tried again at once. */
const TRIES = 2;
/** Services send some 20 MB at times, from far away. */
const LIMIT_MS = 2 * 60_000;
/** It is paid for, and lies there for hours: an outage of the line, or of whoever keeps it there, loses none. */
const FETCH_AGAIN_MS = 20_000;
/** Pictures that this process holds at once, whole and some copies over, until they are stored; and those of one user. */
const places = fairQueue(8, { perKey: 2, lastForNewcomer: true });

export type FetchedPicture = ReturnType<typeof inspectPicture> & { bytes: Buffer };

type Options<Kept> = {
  userId: string;
  signal: AbortSignal;
  waitsForAll: boolean;
  /** Stores one, whose bytes nobody holds after that. Reading it throws where it is no whole picture. */
  keep: (read: () => FetchedPicture) => Promise<Kept>;
};

/**
 * What was kept of the pictures that a service has generated, as far as they come whole. Throws AppError 'unavailable' where
 * none does: its address is dead, or leads inside, or what is there is too large, or no picture; with `waitsForAll` also
 * where one is out of reach for now; what `keep` throws; or the signal's reason.
 */
export async function fetchUpstreamPictures<Kept>(
  generated: UpstreamPictures,
  { userId, signal, waitsForAll, keep }: Options<Kept>,
): Promise<Kept[]> {
  const failures: AppError[] = [];
  const take = async (address: string) => {
    const bytes = await fetchOne(address, generated, signal);
    try {
      if (!(bytes instanceof AppError)) return [await keep(() => ({ ...inspectPicture(bytes), bytes }))];
      failures.push(bytes);
    } catch (error) {
      if (!(error instanceof BadPicture)) throw error;
      failures.push(
        undelivered(generated, 'the file it returned is not a complete picture', { cause: error }),
      );
    }
    return [];
  };
  const taken = await Promise.allSettled(
    generated.addresses.map((address) => places.run(userId, () => take(address), signal)),
  );
  signal.throwIfAborted();
  const kept = taken.flatMap((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  const outOfReach = failures.find(({ retryAfterMs }) => retryAfterMs !== null);
  if (outOfReach && (waitsForAll || kept.length === 0)) throw outOfReach;
  if (kept.length === 0 && failures[0]) throw failures[0];
  return kept;
}

function undelivered(
  { title }: UpstreamPictures,
  what: string,
  options: { cause: unknown; retryAfterMs?: number },
): AppError {
  return new AppError('unavailable', { publicMessage: `${title} generated it, but ${what}`, ...options });
}

/** The file, or why it does not come. */
async function fetchOne(
  address: string,
  generated: UpstreamPictures,
  signal: AbortSignal,
): Promise<Buffer | AppError> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await download(new URL(address), new URL(generated.serviceUrl), signal);
    } catch (error) {
      if (tries === TRIES || signal.aborted)
        return undelivered(generated, 'its picture could not be fetched', {
          cause: error,
          ...(isOutOfReach(error) && { retryAfterMs: FETCH_AGAIN_MS }),
        });
    }
  }
}

/** What may be reached another time is named with its cause; else its address is dead, or leads inside. */
function isOutOfReach(error: unknown): boolean {
  return error instanceof AppError && error.cause !== undefined;
}

/** The service itself may stand inside, as the operator has said; what it names elsewhere may not. */
async function download(address: URL, service: URL, signal: AbortSignal): Promise<Buffer> {
  const isOwn = address.origin === service.origin;
  const pieces = await fetchPublic(address, {
    param: PARAM,
    signal,
    limitMs: LIMIT_MS,
    ...(isOwn && { isAllowed: () => true }),
  });
  return collectPicture(pieces, PARAM);
}
