import { useState } from 'react';

export type SheetDraft<Wanted> = {
  /** Key for the sheet's content; a new key resets it. */
  key: number;
  /** The value that the sheet was opened with. */
  begunWith: Wanted;
  /** Reports the unsaved draft; null if nothing would be lost. */
  onDraft: (draft: Wanted | null) => void;
};

/**
 * Manages the content of a sheet that stays mounted while closed. Opening resets the content unless an
 * unsaved draft fits what it is opened for.
 */
export function useSheetDraft<Wanted>(
  open: boolean,
  wanted: Wanted,
  fits: (wanted: Wanted, draft: Wanted) => boolean,
): SheetDraft<Wanted> {
  const [shown, setShown] = useState({ open, key: 0, begunWith: wanted });
  const [draft, onDraft] = useState<Wanted | null>(null);
  if (open !== shown.open) {
    const goesOn = !open || (draft !== null && fits(wanted, draft));
    setShown(goesOn ? { ...shown, open } : { open, key: shown.key + 1, begunWith: wanted });
  }
  return { key: shown.key, begunWith: shown.begunWith, onDraft };
}
