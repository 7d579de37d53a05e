/**
 * Returns a signal that aborts as soon as one of these aborts, with the same reason. Dispose of it to remove
 * its listeners. For signals of one request: `AbortSignal.any` would leave a reference on each long-lived
 * signal.
 */
export function linkSignals(...signals: AbortSignal[]): { signal: AbortSignal } & Disposable {
  const linked = new AbortController();
  const abort = () => linked.abort(signals.find(({ aborted }) => aborted)?.reason);
  const unlink = () => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  };
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  if (signals.some(({ aborted }) => aborted)) abort();
  return { signal: linked.signal, [Symbol.dispose]: unlink };
}
