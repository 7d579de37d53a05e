/** Runs `work` once the browser has nothing better to do, soon after; the returned function calls it off. */
export function whenIdle(work: () => void): () => void {
  // Safari has no idle callback.
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(work, 500);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work, { timeout: 3_000 });
  return () => cancelIdleCallback(handle);
}

const FIRST_INPUTS = ['pointermove', 'pointerdown', 'touchstart', 'wheel', 'keydown'] as const;
const FIRST_INPUT_MS_MAX = 5_000;

/**
 * Fetches what may be wanted later, from the first input on or after five seconds, so that the page itself comes first:
 * in their order, each in an idle moment of its own after the one before has ended. What somebody does meanwhile waits
 * for one of them at most. The returned function calls off those that have not begun.
 */
export function preloadLater(preloads: readonly (() => Promise<void>)[]): () => void {
  let callOff = () => {};
  const stopWaiting = atFirstInput(() => {
    callOff = oneByOneWhenIdle(preloads);
  });
  return () => {
    stopWaiting();
    callOff();
  };
}

function atFirstInput(work: () => void): () => void {
  const stop = new AbortController();
  const begin = () => {
    stopWaiting();
    work();
  };
  for (const type of FIRST_INPUTS)
    addEventListener(type, begin, { signal: stop.signal, passive: true, capture: true });
  const timer = setTimeout(begin, FIRST_INPUT_MS_MAX);
  const stopWaiting = () => {
    stop.abort();
    clearTimeout(timer);
  };
  return stopWaiting;
}

function oneByOneWhenIdle(works: readonly (() => Promise<void>)[]): () => void {
  let callOff = () => {};
  let calledOff = false;
  const begin = ([work, ...rest]: readonly (() => Promise<void>)[]) => {
    if (!work || calledOff) return;
    callOff = whenIdle(() => void work().then(() => begin(rest)));
  };
  begin(works);
  return () => {
    calledOff = true;
    callOff();
  };
}
