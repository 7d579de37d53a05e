import { useEffect } from 'react';
import { followChanges } from '../lib/live/follow-changes.ts';
import { takeTries } from '../modules/home/landing/try/kept-tries.ts';

/** Keeps what is shown true while the same person is signed in, and gives them what they tried before. */
export function Changes({ userId }: { userId: string }) {
  useEffect(() => {
    const ended = new AbortController();
    void followChanges(userId, performance.timeOrigin, ended.signal);
    return () => ended.abort();
  }, [userId]);
  useEffect(() => {
    const tries = takeTries();
    if (tries)
      void import('../modules/home/landing/try/give-tries.ts').then(({ giveTries }) => giveTries(tries));
  }, [userId]);
  return null;
}
