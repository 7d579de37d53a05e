import { createContext, use, useEffect, useEffectEvent, useState } from 'react';
import { useOpenSheet, useSheets } from '../lib/sheet.ts';
import { BrokenPart, type CaughtError, LazyPart } from '../ui/boundary.tsx';
import { Button } from '../ui/button.tsx';
import { sheets } from './all-sheets.ts';

/**
 * Renders the sheet that the URL opens. Sheets stay mounted after their first opening, for the closing
 * animation.
 */
export function OpenSheets() {
  const opened = useOpenSheet();
  const { close } = useSheets();
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  if (opened && !seen.has(opened.name)) setSeen(new Set([...seen, opened.name]));
  return sheets
    .filter(({ name }) => seen.has(name))
    .map(({ name, label, render: Content }) => {
      const open = opened?.name === name;
      const onClose = () => close(name);
      const remove = () => setSeen((names) => new Set([...names].filter((one) => one !== name)));
      return (
        // One boundary per sheet: an error must not unmount other sheets, which may hold a draft or a payment
        // result.
        <ShownSheet key={name} value={{ label, open, onClose, remove }}>
          <LazyPart fallback={BrokenSheet}>
            <Content open={open} onClose={onClose} params={open ? opened.params : {}} />
          </LazyPart>
        </ShownSheet>
      );
    });
}

const ShownSheet = createContext({ label: '', open: false, onClose: () => {}, remove: () => {} });

/** Error in place of the sheet. Doesn't use the sheet's own code, which may have failed to load. */
function BrokenSheet(broken: CaughtError) {
  const { label, open, onClose, remove } = use(ShownSheet);
  // Reset on close, so that reopening retries.
  const removeNow = useEffectEvent(remove);
  useEffect(() => {
    if (!open) removeNow();
  }, [open]);
  if (!open) return null;
  return (
    <div
      role="dialog"
      aria-label={label}
      className="fixed inset-y-0 right-0 z-40 flex w-full flex-col justify-center bg-surface shadow-pop sm:max-w-md"
    >
      <BrokenPart {...broken} />
      <Button variant="ghost" className="mx-auto" onClick={onClose}>
        Close
      </Button>
    </div>
  );
}
