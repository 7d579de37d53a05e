import type { CallerKey, Context } from '../../context.ts';
import { unauthenticated } from '../../errors.ts';

const LOOK_EVERY_MS = 400;

/** A changed key that cannot be read for this long counts as ended. */
const UNREAD_MS_MAX = 500;

type KeyWatch = { signal: AbortSignal; stop: () => void };

/**
 * For long requests: `signal` aborts within a second once the API key that opened it is revoked, replaced,
 * expired, or has lost a scope, or if it was announced to have changed and cannot be read. `stop` ends the
 * watch. A slow or unavailable database aborts nothing else, and sessions are never aborted.
 */
export function watchKey({
  caller,
  rowChanges,
  clock,
  log,
}: Pick<Context, 'caller' | 'rowChanges' | 'clock' | 'log'>): KeyWatch {
  const ended = new AbortController();
  const { key } = caller;
  if (!key) return { signal: ended.signal, stop: () => undefined };
  let { expiresAt } = key;
  let changes = 0;
  let timer: NodeJS.Timeout | undefined;
  let unread: NodeJS.Timeout | undefined;
  let isLooking = false;
  let isStopped = false;
  let hasFailed = false;

  const look = async () => {
    const before = changes;
    isLooking = true;
    try {
      const found = await key.look();
      hasFailed = false;
      // A read that began before a change may not show it.
      if (isStopped || changes !== before) return;
      clearTimeout(unread);
      unread = undefined;
      if (!found || hasLostScope(key, found)) return end();
      expiresAt = found.expiresAt;
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'failed to check whether an API key was revoked');
      hasFailed = true;
    } finally {
      isLooking = false;
    }
  };
  const unsubscribe = rowChanges.subscribe((change) => {
    if (change === null) return void look();
    if (change.of !== 'api_key' || change.id !== key.id) return;
    changes += 1;
    unread ??= setTimeout(end, UNREAD_MS_MAX).unref();
    void look();
  });
  // Changes are announced; ticks only read the key while announcements may be missed. A tick does not wait
  // for the read.
  const tick = () => {
    if (expiresAt !== null && expiresAt <= clock.now()) return end();
    if (!isLooking && !rowChanges.areCurrent()) void look();
    tickAgain();
  };
  const tickAgain = () => {
    timer = setTimeout(tick, msToNextLook()).unref();
  };
  const stop = () => {
    isStopped = true;
    unsubscribe();
    clearTimeout(timer);
    clearTimeout(unread);
  };
  const end = () => {
    stop();
    ended.abort(unauthenticated('This API key is no longer valid'));
  };
  tickAgain();
  // The watch missed the changes announced since the authentication.
  if (rowChanges.count() !== key.changeCount) void look();
  return { signal: ended.signal, stop };
}

/** Aligned, so that the reads of all watches share queries. */
function msToNextLook(): number {
  return LOOK_EVERY_MS - (performance.now() % LOOK_EVERY_MS);
}

function hasLostScope(before: Pick<CallerKey, 'scopes'>, now: Pick<CallerKey, 'scopes'>): boolean {
  return !now.scopes.includes('everything') && before.scopes.some((scope) => !now.scopes.includes(scope));
}
