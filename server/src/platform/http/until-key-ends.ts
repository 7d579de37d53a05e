import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';

/** The longest wait of a timer; a key that lives longer outlives the stream too. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * For what stays open long: aborts once the API key that opened it does so no more, because it was
 * revoked, replaced, or its time is over. `stop` ends the watch. Where a browser's session opened it, nothing aborts.
 */
export function untilKeyEnds({ caller, events, clock, log }: Context): {
  signal: AbortSignal;
  stop: () => void;
} {
  const ended = new AbortController();
  const { key, userId } = caller;
  if (!key) return { signal: ended.signal, stop: () => undefined };
  const end = () =>
    ended.abort(new AppError('unauthenticated', { publicMessage: 'This API key is no longer valid' }));
  const look = () => {
    key.isLive().then(
      (isLive) => isLive || end(),
      (error: unknown) => {
        log.warn({ err: error }, 'could not look whether a key was revoked: what it has open ends');
        end();
      },
    );
  };
  const stopListening = events.subscribe(userId, (event) => {
    if (event.topic === 'api_key' && event.id === key.id) look();
  });
  // What changed while nobody could hear of it was not heard.
  const stopReconnects = events.onReconnect(look);
  const leftMs = key.expiresAt ? key.expiresAt.getTime() - clock.now().getTime() : TIMER_MS_MAX;
  const timer = setTimeout(look, Math.min(leftMs, TIMER_MS_MAX)).unref();
  return {
    signal: ended.signal,
    stop: () => {
      stopListening();
      stopReconnects();
      clearTimeout(timer);
    },
  };
}
