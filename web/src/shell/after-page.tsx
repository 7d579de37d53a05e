import { type ReactNode, Suspense, startTransition, useEffect, useState } from 'react';
import { queryClient } from '../lib/api/query-client.ts';
import { whenIdle } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from '../ui/boundary.tsx';

const WAIT_MS_MAX = 3_000;

/** What may come after the page, and whose absence breaks nothing: what it reads waits behind what the page reads. */
export function AfterPage({ children, fallback }: { children: ReactNode; fallback?: ReactNode }) {
  const [isDue, setDue] = useState(false);
  // In a transition: whoever touches the page meanwhile interrupts it.
  useEffect(() => afterReads(() => startTransition(() => setDue(true))), []);
  if (!isDue) return fallback;
  return (
    <Boundary fallback={EmptyFallback}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  );
}

/**
 * Runs `work` once the page has what it reads and the browser is idle, and after three seconds at the latest; the
 * returned function calls it off.
 */
function afterReads(work: () => void): () => void {
  let stopWaiting = whenIdle(() => {
    const look = () => {
      if (queryClient.isFetching() > 0) return;
      unsubscribe();
      stopWaiting = whenIdle(finish);
    };
    const unsubscribe = queryClient.getQueryCache().subscribe(look);
    stopWaiting = unsubscribe;
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
