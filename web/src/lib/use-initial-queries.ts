import { useEffect, useState } from 'react';

/** After this, the page shows what has loaded, and the rest fills in. */
const WAIT_MS_MAX = 3_000;

/** The parts of a query that this needs. */
export type InitialQuery = { isPending: boolean; failureCount: number };

/**
 * Returns true once every read has succeeded or failed once, or after three seconds. Pages whose cards have
 * variable heights wait for it to avoid layout shifts; retries don't delay the page.
 */
export function useInitialQueries(...reads: readonly InitialQuery[]): boolean {
  const [answered, setAnswered] = useState(false);
  useEffect(() => {
    const deadline = setTimeout(() => setAnswered(true), WAIT_MS_MAX);
    return () => clearTimeout(deadline);
  }, []);
  const now = answered || reads.every(({ isPending, failureCount }) => !isPending || failureCount > 0);
  if (now !== answered) setAnswered(now);
  return now;
}
