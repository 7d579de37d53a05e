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
/** A work that takes longer than that, perhaps for ever, holds up no other. */
const WORK_MS_MAX = 10_000;

type Work = () => void | Promise<void>;

/**
 * Runs works in their order, each in an idle moment of its own after the one before has ended: what somebody does meanwhile
 * waits for one of them at most. What is returned for a work calls it off as long as it has not begun.
 */
export function idleQueue(): (work: Work) => () => void {
  const waiting: Work[] = [];
  let isBusy = false;
  const runNext = () => {
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      isBusy = false;
      schedule();
    };
    const timer = setTimeout(end, WORK_MS_MAX);
    // What fails is asked for again where it is needed.
    Promise.resolve(waiting.shift()?.()).then(end, end);
  };
  const schedule = () => {
    if (isBusy || waiting.length === 0) return;
    isBusy = true;
    whenIdle(runNext);
  };
  return (work) => {
    waiting.push(work);
    schedule();
    return () => {
      const at = waiting.indexOf(work);
      if (at >= 0) waiting.splice(at, 1);
    };
  };
}

const preloadInTurn = idleQueue();

/**
 * Fetches what may be wanted later, from the first input on or after five seconds, so that the page itself comes first. All
 * that is asked for anywhere is one queue. The returned function calls off what has not begun.
 */
export function preloadLater(preloads: readonly (() => Promise<void>)[]): () => void {
  let calls: (() => void)[] = [];
  const stopWaiting = atFirstInput(() => {
    calls = preloads.map(preloadInTurn);
  });
  return () => {
    stopWaiting();
    for (const callOff of calls) callOff();
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
