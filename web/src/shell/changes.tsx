import { useEffect } from 'react';
import { followChanges } from '../lib/live/follow-changes.ts';
import { readTries } from '../modules/home/landing/try/kept-tries.ts';

/** Keeps what is shown true while the same person is signed in, and gives them what they tried before. */
export function Changes({ userId }: { userId: string }) {
  useEffect(() => {
    const ended = new AbortController();
    void followChanges(userId, performance.timeOrigin, ended.signal);
    return () => ended.abort();
  }, [userId]);
  useEffect(() => {
    const ended = new AbortController();
    if (readTries())
      void import('../modules/home/landing/try/give-tries.ts').then(({ giveTries }) =>
        giveTries(ended.signal),
      );
    return () => ended.abort();
  }, [userId]);
  return null;
}
