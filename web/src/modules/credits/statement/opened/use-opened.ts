import { useState } from 'react';

/** What is open of a statement, by the id of a line or the key of a group. */
export type Opened = { has: (key: string) => boolean; toggle: (key: string) => void };

/** Kept beside the rows: one that is scrolled out of sight does not exist, and would forget that it was open. */
export function useOpened(): Opened {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  return {
    has: (key) => keys.has(key),
    toggle: (key) =>
      setKeys((before) => {
        const after = new Set(before);
        if (!after.delete(key)) after.add(key);
        return after;
      }),
  };
}
