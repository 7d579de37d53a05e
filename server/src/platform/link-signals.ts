/**
 * A signal that aborts with the first of these, with its reason, until it is disposed of: then nothing of it is left on
 * them. Of `AbortSignal.any` something stays on each for as long as that lives, so it is for signals of one request.
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
