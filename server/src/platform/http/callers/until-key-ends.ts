import type { CallerKey, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';

const LOOK_EVERY_MS = 400;

/**
 * For what stays open long: `signal` aborts within a second once the API key that opened it is revoked, replaced,
 * expired, or has lost a scope. `stop` ends the watch. Nothing aborts where a browser's session opened it, nor while
 * the database is unavailable, unless the key expires.
 */
export function untilKeyEnds({ caller, clock, log }: Pick<Context, 'caller' | 'clock' | 'log'>): {
  signal: AbortSignal;
  stop: () => void;
} {
  const ended = new AbortController();
  const { key } = caller;
  if (!key) return { signal: ended.signal, stop: () => undefined };
  let found: Pick<CallerKey, 'scopes' | 'expiresAt'> | null = key;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let hasFailed = false;

  const look = async () => {
    try {
      found = await key.look();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'could not check whether an API key was revoked');
      hasFailed = true;
    }
    if (isStopped) return;
    if (found && !hasExpired(found, clock.now()) && !hasLostScope(key, found)) return lookAgain();
    ended.abort(new AppError('unauthenticated', { publicMessage: 'This API key is no longer valid' }));
  };
  const lookAgain = () => {
    // All watches look at the same moments, so that their looks share queries.
    const ms = LOOK_EVERY_MS - (performance.now() % LOOK_EVERY_MS);
    timer = setTimeout(() => void look(), ms).unref();
  };
  lookAgain();
  return {
    signal: ended.signal,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function hasExpired({ expiresAt }: Pick<CallerKey, 'expiresAt'>, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now;
}

function hasLostScope(before: Pick<CallerKey, 'scopes'>, now: Pick<CallerKey, 'scopes'>): boolean {
  return !now.scopes.includes('everything') && before.scopes.some((scope) => !now.scopes.includes(scope));
}
