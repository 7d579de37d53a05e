import type { CallerKey, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';

/** What changed between the check of the key and the watch reached nobody. What is over sooner need not ask. */
const FIRST_LOOK_MS = 1_000;
/** A process that is killed after a commit takes its announcements with it. */
const LOOK_MS = 45_000;

/**
 * For what stays open long: aborts once the API key that opened it does so no more, because it was
 * revoked, replaced, its time is over, or it has lost a scope. `stop` ends the watch. Where a browser's
 * session opened it, nothing aborts.
 */
export function untilKeyEnds({ caller, events, clock, log }: Context): {
  signal: AbortSignal;
  stop: () => void;
} {
  const ended = new AbortController();
  const { key, userId } = caller;
  if (!key) return { signal: ended.signal, stop: () => undefined };
  let { expiresAt } = key;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const leftMs = () => (expiresAt ? expiresAt.getTime() - clock.now().getTime() : Infinity);
  const end = () =>
    ended.abort(new AppError('unauthenticated', { publicMessage: 'This API key is no longer valid' }));
  const lookAfter = (ms: number) => {
    clearTimeout(timer);
    if (isStopped || ended.signal.aborted) return;
    timer = setTimeout(() => void look({ isUrgent: false }), Math.min(leftMs(), ms)).unref();
  };
  const look = async ({ isUrgent }: { isUrgent: boolean }) => {
    try {
      const found = await key.look();
      if (!found || hasLostScope(key, found)) return end();
      expiresAt = found.expiresAt;
    } catch (error) {
      log.warn({ err: error }, 'could not look whether a key was revoked');
      // The key has changed, and nobody knows how.
      if (isUrgent || leftMs() <= 0) return end();
    }
    lookAfter(LOOK_MS);
  };
  const stopListening = events.subscribe(userId, (event) => {
    if (event.topic === 'api_key' && event.id === key.id) void look({ isUrgent: true });
  });
  // What changed while nobody could hear of it was not heard.
  const stopReconnects = events.onReconnect(() => void look({ isUrgent: true }));
  lookAfter(FIRST_LOOK_MS);
  return {
    signal: ended.signal,
    stop: () => {
      isStopped = true;
      stopListening();
      stopReconnects();
      clearTimeout(timer);
    },
  };
}

function hasLostScope(before: Pick<CallerKey, 'scopes'>, now: Pick<CallerKey, 'scopes'>): boolean {
  return !now.scopes.includes('everything') && before.scopes.some((scope) => !now.scopes.includes(scope));
}
