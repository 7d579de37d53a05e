import { type ReactNode, Suspense, startTransition, useEffect, useState } from 'react';
import { queryClient } from '../lib/api/query-client.ts';
import { idleQueue, whenIdle } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from '../ui/boundary.tsx';

/** Longest wait for the page's queries. */
const WAIT_MS_MAX = 3_000;

/** Together, these parts send a dozen requests, which slows down phones. */
const inTurn = idleQueue();

type Props = {
  children: ReactNode;
  fallback?: ReactNode;
  /** Loads the code of the children. */
  preload: () => Promise<void>;
};

/** Renders non-essential parts after the page, so that their requests queue behind the page's. */
export function IdleMount({ children, fallback, preload }: Props) {
  const [isDue, setDue] = useState(false);
  // In a transition, so that user input interrupts the rendering.
  const begin = () => startTransition(() => setDue(true));
  useEffect(() => afterReads(() => void preload().then(() => inTurn(begin))), [preload]);
  if (!isDue) return fallback;
  return (
    <Boundary fallback={EmptyFallback}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  );
}

/**
 * Runs `work` once the page's queries have loaded, after three seconds at the latest. Returns a function that
 * cancels it.
 */
function afterReads(work: () => void): () => void {
  // The page's effects, which start its queries, may not have run yet.
  let stopWaiting = whenIdle(() => {
    const look = () => {
      if (queryClient.isFetching() === 0) finish();
    };
    stopWaiting = queryClient.getQueryCache().subscribe(look);
    look();
  });
  const callOff = () => {
    clearTimeout(deadline);
    stopWaiting();
  };
  const finish = () => {
    callOff();
    work();
  };
  const deadline = setTimeout(finish, WAIT_MS_MAX);
  return callOff;
}
