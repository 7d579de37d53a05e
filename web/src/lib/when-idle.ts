/** Runs `work` when the browser is idle, but soon. Returns a function that cancels it. */
export function whenIdle(work: () => void): () => void {
  // Safari has no requestIdleCallback.
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(work, 500);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work, { timeout: 3_000 });
  return () => cancelIdleCallback(handle);
}

const FIRST_INPUTS = ['pointermove', 'pointerdown', 'touchstart', 'wheel', 'keydown'] as const;
const FIRST_INPUT_MS_MAX = 5_000;
/** A task that takes longer no longer blocks the others. */
const WORK_MS_MAX = 10_000;

type Work = () => void | Promise<void>;

/**
 * Runs tasks in order, each in its own idle callback after the previous one has ended, so that user input
 * waits for at most one task. Returns a function that cancels a task that hasn't started.
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
    // Failed loads are retried where they are needed.
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
 * Preloads code in one global idle queue, starting at the first input or after five seconds, so that the page
 * itself loads first. Returns a function that cancels loads that haven't started.
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
