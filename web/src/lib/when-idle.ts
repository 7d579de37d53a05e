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

/**
 * Runs the works in their order, each in an idle moment of its own after the one before has ended: what somebody does
 * meanwhile waits for one of them at most. The returned function calls off those that have not begun.
 */
export function oneByOneWhenIdle(works: readonly (() => Promise<void>)[]): () => void {
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
