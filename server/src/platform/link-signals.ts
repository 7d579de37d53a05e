/**
 * Returns a signal that aborts with the first of these, with its reason, until it is disposed of, which
 * removes its listeners. `AbortSignal.any` leaves a reference on each long-lived signal, so this is for
 * signals of one request.
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
