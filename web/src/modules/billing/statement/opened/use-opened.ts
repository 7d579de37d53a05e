import { useState } from 'react';

/** Open lines and groups of a statement, by id or key. */
export type Opened = { has: (key: string) => boolean; toggle: (key: string) => void };

/** Stored outside the rows: the virtualized list unmounts rows that are scrolled out of view. */
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
