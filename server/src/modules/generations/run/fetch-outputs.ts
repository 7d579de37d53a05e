import { Readable } from 'node:stream';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { AppError } from '../../../platform/errors.ts';
import { fetchPublic } from '../../../platform/http/addresses/fetch-public.ts';
import { BadMedia } from '../../media/bad-media.ts';
import type { UpstreamOutputs } from '../../providers/generate-upstream.ts';
import type { Medium } from '../media-table.ts';

/** A connection may break: it is tried again at once. */
const TRIES = 2;
/** It is paid for, and lies there for hours: an outage of the line, or of whoever keeps it there, loses none. */
const FETCH_AGAIN_MS = 20_000;
/** Outputs that this process stores at once, and those of one user: each is looked at and made a small copy of. */
const places = fairQueue(8, { perKey: 2, lastForNewcomer: true });

type Options<Kept> = {
  userId: string;
  medium: Pick<Medium, 'noun' | 'fetchMsMax'>;
  signal: AbortSignal;
  waitsForAll: boolean;
  /** Stores what comes. Throws BadMedia for what is not whole. */
  keep: (bytes: Readable) => Promise<Kept>;
};

/**
 * What was kept of the outputs of a service, as far as they come whole. Throws AppError 'unavailable' where none does: its
 * address is dead, or leads inside, or what is there is too large, or no picture; with `waitsForAll` also where one is out
 * of reach for now; what else `keep` throws; or the signal's reason.
 */
export async function fetchOutputs<Kept>(
  generated: UpstreamOutputs,
  { userId, medium, signal, waitsForAll, keep }: Options<Kept>,
): Promise<Kept[]> {
  const taken = await Promise.allSettled(
    generated.addresses.map((address) =>
      places.run(userId, () => fetchOne(address, generated, { medium, signal, keep }), signal),
    ),
  );
  signal.throwIfAborted();
  const kept: Kept[] = [];
  const failures: AppError[] = [];
  for (const one of taken) {
    if (one.status === 'rejected') throw one.reason;
    if ('kept' in one.value) kept.push(one.value.kept);
    else failures.push(one.value.failure);
  }
  const outOfReach = failures.find(({ retryAfterMs }) => retryAfterMs !== null);
  if (outOfReach && (waitsForAll || kept.length === 0)) throw outOfReach;
  if (kept.length === 0 && failures[0]) throw failures[0];
  return kept;
}

/** What was kept of it, or why it does not come. Throws what `keep` throws of its own. */
async function fetchOne<Kept>(
  address: string,
  generated: UpstreamOutputs,
  { medium, signal, keep }: Pick<Options<Kept>, 'medium' | 'signal' | 'keep'>,
): Promise<{ kept: Kept } | { failure: AppError }> {
  for (let tries = 1; ; tries += 1) {
    const { bytes, hasFailed } = download(new URL(address), generated, { medium, signal });
    try {
      return { kept: await keep(bytes) };
    } catch (error) {
      if (error instanceof BadMedia)
        return {
          failure: undelivered(generated, `the file it returned is not a complete ${medium.noun}`, {
            cause: error,
          }),
        };
      if (!hasFailed()) throw error;
      if (tries === TRIES || signal.aborted)
        return {
          failure: undelivered(generated, `its ${medium.noun} could not be fetched`, {
            cause: error,
            ...(isOutOfReach(error) && { retryAfterMs: FETCH_AGAIN_MS }),
          }),
        };
    } finally {
      bytes.destroy();
    }
  }
}

function undelivered(
  { title }: UpstreamOutputs,
  what: string,
  options: { cause: unknown; retryAfterMs?: number },
): AppError {
  return new AppError('unavailable', { publicMessage: `${title} generated it, but ${what}`, ...options });
}

/** What may be reached another time is named with its cause; else its address is dead, or leads inside. */
function isOutOfReach(error: unknown): boolean {
  return error instanceof AppError && error.cause !== undefined;
}

/** The file at an address, and whether its fetch failed. */
function download(
  address: URL,
  { serviceUrl, headers }: Pick<UpstreamOutputs, 'serviceUrl' | 'headers'>,
  { medium, signal }: Pick<Options<unknown>, 'medium' | 'signal'>,
): { bytes: Readable; hasFailed: () => boolean } {
  // The service itself may stand inside, as the operator has said; what it names elsewhere may not.
  const isOwn = address.origin === new URL(serviceUrl).origin;
  const options = {
    // What errors name, which nobody has sent.
    param: medium.noun,
    ...{ signal, limitMs: medium.fetchMsMax, accept: medium.noun === 'video' ? 'video/*' : 'image/*' },
    ...(isOwn && { isAllowed: () => true, headers }),
  };
  let hasFailed = false;
  const pieces = async function* () {
    try {
      yield* await fetchPublic(address, options);
    } catch (error) {
      // The error of whoever reads the stream comes here too, once it has destroyed the stream.
      hasFailed = !bytes.destroyed;
      throw error;
    }
  };
  const bytes = Readable.from(pieces(), { objectMode: false });
  return { bytes, hasFailed: () => hasFailed };
}
