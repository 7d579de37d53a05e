import { useState } from 'react';

/** What is needed of a query. */
export type FirstRead = { isPending: boolean; failureCount: number };

/**
 * Whether each of the reads was once answered or once failed. A page whose cards are as high as what is in
 * them waits for it, so that no card moves those under it; one that is tried again holds nothing up.
 */
export function useFirstAnswers(...reads: readonly FirstRead[]): boolean {
  const [answered, setAnswered] = useState(false);
  const now = answered || reads.every(({ isPending, failureCount }) => !isPending || failureCount > 0);
  if (now !== answered) setAnswered(now);
  return now;
}
