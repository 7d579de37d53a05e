import type { CallerKey, Context } from '../../context.ts';
import { unauthenticated } from '../../errors.ts';

const CHECK_EVERY_MS = 400;

/** If a key was announced to have changed and cannot be read for this long, it counts as ended. */
const UNREAD_MS_MAX = 500;

type KeyWatch = { signal: AbortSignal; stop: () => void };

/**
 * Watches the API key of a long request. `signal` aborts within a second once the key is revoked, replaced or
 * expired, or has lost a scope. It also aborts if the key was announced to have changed but cannot be read. A
 * slow or unavailable database alone does not abort it. Requests with a session are never aborted. `stop`
 * ends the watch.
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
      // Ignore a read that began before a change, because it may not show the change.
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
  // Changes are announced, so read the key only while announcements may be missed. A tick does not wait for
  // the read.
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
  // The key may have changed between its authentication and the start of this watch.
  if (rowChanges.count() !== key.changeCount) void look();
  return { signal: ended.signal, stop };
}

/** All watches read at the same times, so that their reads share queries. */
function msToNextLook(): number {
  return CHECK_EVERY_MS - (performance.now() % CHECK_EVERY_MS);
}

function hasLostScope(before: Pick<CallerKey, 'scopes'>, now: Pick<CallerKey, 'scopes'>): boolean {
  return !now.scopes.includes('everything') && before.scopes.some((scope) => !now.scopes.includes(scope));
}
