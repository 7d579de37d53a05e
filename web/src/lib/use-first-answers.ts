import { useEffect, useState } from 'react';

/** One slow read holds nothing up for longer: what is there is shown, and the rest fills in. */
const WAIT_MS_MAX = 3_000;

/** What is needed of a query. */
export type FirstRead = { isPending: boolean; failureCount: number };

/**
 * Whether each of the reads was once answered or once failed, or three seconds have passed. A page whose cards are as high as what is in
 * them waits for it, so that no card moves those under it; one that is tried again holds nothing up.
 */
export function useFirstAnswers(...reads: readonly FirstRead[]): boolean {
  const [answered, setAnswered] = useState(false);
  useEffect(() => {
    const deadline = setTimeout(() => setAnswered(true), WAIT_MS_MAX);
    return () => clearTimeout(deadline);
  }, []);
  const now = answered || reads.every(({ isPending, failureCount }) => !isPending || failureCount > 0);
  if (now !== answered) setAnswered(now);
  return now;
}
