import { useState } from 'react';

export type Round<Wanted> = {
  /** The key of the sheet's content: another one begins it anew. */
  key: number;
  /** What this round was opened with. */
  begunWith: Wanted;
  /** Tells what is unfinished and for what; null where nothing would be lost. */
  onDraft: (draft: Wanted | null) => void;
};

/**
 * The rounds of a sheet, which stays mounted while it is closed, by Back too: an opening begins anew, unless a
 * draft was left that fits what the sheet is opened for now.
 */
export function useRound<Wanted>(
  open: boolean,
  wanted: Wanted,
  fits: (wanted: Wanted, draft: Wanted) => boolean,
): Round<Wanted> {
  const [shown, setShown] = useState({ open, key: 0, begunWith: wanted });
  const [draft, onDraft] = useState<Wanted | null>(null);
  if (open !== shown.open) {
    const goesOn = !open || (draft !== null && fits(wanted, draft));
    setShown(goesOn ? { ...shown, open } : { open, key: shown.key + 1, begunWith: wanted });
  }
  return { key: shown.key, begunWith: shown.begunWith, onDraft };
}
