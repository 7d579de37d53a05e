import { useState } from 'react';

export type Palette = ReturnType<typeof usePalette>;

/** State of the command palette. `begun` is its initial text, or null while it is closed. */
export function usePalette(isVisitor: boolean) {
  const [begun, setBegun] = useState<string | null>(null);
  // The expected session is missing: don't open the palette for the next user.
  if (isVisitor && begun !== null) setBegun(null);
  const open = (typed = '') => {
    if (!isVisitor) setBegun((before) => before ?? typed);
  };
  return { begun, open, close: () => setBegun(null) };
}
