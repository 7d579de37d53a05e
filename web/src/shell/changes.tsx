import { useEffect } from 'react';
import { followChanges } from '../lib/live/follow-changes.ts';

/** Keeps what is shown true while the same person is signed in. */
export function Changes({ userId }: { userId: string }) {
  useEffect(() => {
    const ended = new AbortController();
    void followChanges(userId, performance.timeOrigin, ended.signal);
    return () => ended.abort();
  }, [userId]);
  return null;
}
