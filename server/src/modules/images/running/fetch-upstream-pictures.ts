import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { AppError } from '../../../platform/errors.ts';
import { fetchPublic } from '../../../platform/http/addresses/fetch-public.ts';
import type { UpstreamPictures } from '../../upstreams/generate-upstream.ts';
import { collectPicture } from '../pictures/collect-picture.ts';
import { BadPicture, inspectPicture } from '../pictures/inspect-picture.ts';

/** What errors name, which nobody has sent. */
const PARAM = 'picture';
/** A connection may break: it is tried again at once. */
const TRIES = 2;
/** Services send some 20 MB at times, from far away. */
const LIMIT_MS = 2 * 60_000;
/** It is paid for, and lies there for hours: an outage of the line, or of whoever keeps it there, loses none. */
const FETCH_AGAIN_MS = 20_000;
/** Pictures of one generation that are fetched at once: each is in memory whole. */
const AT_ONCE = 2;

type Fetched = ReturnType<typeof inspectPicture> & { bytes: Buffer };

/**
 * The pictures that a service has generated, as far as they come whole. Throws AppError 'unavailable' where none does: its
 * address is dead, or leads inside, or what is there is too large, or no picture; with `waitsForAll` also where one is out
 * of reach for now; or the signal's reason.
 */
export async function fetchUpstreamPictures(
  generated: UpstreamPictures,
  { signal, waitsForAll }: { signal: AbortSignal; waitsForAll: boolean },
): Promise<Fetched[]> {
  const places = fairQueue(AT_ONCE);
  const fetched = await Promise.allSettled(
    generated.addresses.map((address) =>
      places.run(generated.title, () => fetchOne(address, generated, signal), signal),
    ),
  );
  signal.throwIfAborted();
  const whole = fetched.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failures = fetched.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const outOfReach = failures.find((error) => error instanceof AppError && error.retryAfterMs !== null);
  if (outOfReach && (waitsForAll || whole.length === 0)) throw outOfReach;
  if (whole.length === 0 && failures.length > 0) throw failures[0];
  return whole;
}

async function fetchOne(
  address: string,
  { title, serviceUrl }: UpstreamPictures,
  signal: AbortSignal,
): Promise<Fetched> {
  const fail = (what: string, options: { cause: unknown; retryAfterMs?: number }) =>
    new AppError('unavailable', { publicMessage: `${title} generated it, but ${what}`, ...options });
  for (let tries = 1; ; tries += 1) {
    try {
      const bytes = await download(new URL(address), new URL(serviceUrl), signal);
      return { ...inspectPicture(bytes), bytes };
    } catch (error) {
      if (error instanceof BadPicture)
        throw fail('the file it returned is not a complete picture', { cause: error });
      if (tries === TRIES || signal.aborted)
        throw fail('its picture could not be fetched', {
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
