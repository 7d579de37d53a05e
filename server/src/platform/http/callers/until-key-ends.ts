import type { RowChange } from '../../cache/row-changes.ts';
import type { CallerKey, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';

/** What changed between the check of the key and the watch was not heard. What is over sooner need not ask. */
const FIRST_LOOK_MS = 500;
/** A timer cannot run for months. */
const LOOK_MS = 45_000;
/** The database could not be asked. */
const LOOK_AGAIN_MS = 500;

/**
 * For what stays open long: aborts within a second once the API key that opened it does so no more, because it was
 * revoked, replaced, its time is over, or it has lost a scope; its row is read again at each change, and while
 * changes cannot be heard. `stop` ends the watch. Where a browser's session opened it, nothing aborts.
 */
export function untilKeyEnds({ caller, rowChanges, clock, log }: Context): {
  signal: AbortSignal;
  stop: () => void;
} {
  const ended = new AbortController();
  const { key } = caller;
  if (!key) return { signal: ended.signal, stop: () => undefined };
  let { expiresAt } = key;
  let timer: NodeJS.Timeout | undefined;
  /** It is being read; and has to be once more, since something may have changed meanwhile. */
  const reading = { isUnderWay: false, isStale: false };
  /** It has changed, and was not read since. */
  let isUnread = false;
  let hasFailed = false;
  let isStopped = false;
  const leftMs = () => (expiresAt ? expiresAt.getTime() - clock.now().getTime() : Infinity);
  const end = () =>
    ended.abort(new AppError('unauthenticated', { publicMessage: 'This API key is no longer valid' }));
  const lookAfter = (ms: number) => {
    clearTimeout(timer);
    if (isStopped || ended.signal.aborted) return;
    timer = setTimeout(() => void look(), Math.min(leftMs(), ms)).unref();
  };
  const read = async () => {
    reading.isStale = false;
    try {
      const found = await key.look();
      if (!found || hasLostScope(key, found)) return end();
      expiresAt = found.expiresAt;
      hasFailed = false;
      isUnread &&= reading.isStale;
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'could not look whether a key was revoked');
      hasFailed = true;
      // The key has changed, and nobody knows how.
      if (isUnread || leftMs() <= 0) end();
    }
  };
  const look = async () => {
    reading.isStale = true;
    if (reading.isUnderWay) return;
    reading.isUnderWay = true;
    while (reading.isStale && !isStopped && !ended.signal.aborted) await read();
    reading.isUnderWay = false;
    lookAfter(hasFailed ? LOOK_AGAIN_MS : LOOK_MS);
  };
  const hear = (change: RowChange | null) => {
    if (change === null) {
      // While the database is away it is asked often enough as it is.
      if (!hasFailed) void look();
      return;
    }
    if (change.of !== 'api_key' || change.id !== key.id) return;
    isUnread = true;
    void look();
  };
  const unwatch = rowChanges.watch(hear);
  lookAfter(FIRST_LOOK_MS);
  return {
    signal: ended.signal,
    stop: () => {
      isStopped = true;
      unwatch();
      clearTimeout(timer);
    },
  };
}

function hasLostScope(before: Pick<CallerKey, 'scopes'>, now: Pick<CallerKey, 'scopes'>): boolean {
  return !now.scopes.includes('everything') && before.scopes.some((scope) => !now.scopes.includes(scope));
}
