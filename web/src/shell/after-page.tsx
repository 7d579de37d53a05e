import { type ReactNode, Suspense, startTransition, useEffect, useState } from 'react';
import { queryClient } from '../lib/api/query-client.ts';
import { idleQueue, whenIdle } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from '../ui/boundary.tsx';

/** What the page reads is waited for no longer; then a part takes its turn. */
const WAIT_MS_MAX = 3_000;

/** Together, what follows a page begins a dozen requests, which a phone feels. */
const inTurn = idleQueue();

type Props = {
  children: ReactNode;
  fallback?: ReactNode;
  /** Fetches the code of the children. */
  preload: () => Promise<void>;
};

/** What may come after the page, and whose absence breaks nothing: what it reads waits behind what the page reads. */
export function AfterPage({ children, fallback, preload }: Props) {
  const [isDue, setDue] = useState(false);
  // In a transition: whoever touches the page meanwhile interrupts it.
  const begin = () => startTransition(() => setDue(true));
  useEffect(() => afterReads(() => void preload().then(() => inTurn(begin))), [preload]);
  if (!isDue) return fallback;
  return (
    <Boundary fallback={EmptyFallback}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  );
}

/** Runs `work` once the page has what it reads, and after three seconds at the latest; the returned function calls it off. */
function afterReads(work: () => void): () => void {
  // The page's own effects, which begin its reads, may still be due.
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
