import { createContext, Suspense, use, useEffect, useEffectEvent, useState } from 'react';
import { LoadError } from '../lib/loadable.tsx';
import { useOpenSheet, useSheets } from '../lib/sheet.ts';
import { Boundary, type CaughtError, useRetry } from '../ui/boundary.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { LoadFailure } from '../ui/load-failure.tsx';
import { findSheet, sheets } from './all-sheets.ts';

/**
 * Renders the sheet that the URL opens. Sheets stay mounted after their first opening, for the closing
 * animation.
 */
export function OpenSheets() {
  const opened = useOpenSheet();
  const { close } = useSheets();
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  if (opened && !seen.has(opened.name)) {
    // Retries a failed load.
    void findSheet(opened.name)?.preload();
    setSeen(new Set([...seen, opened.name]));
  }
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
          <Boundary fallback={BrokenSheet}>
            <Suspense>
              <Content open={open} onClose={onClose} params={open ? opened.params : {}} />
            </Suspense>
          </Boundary>
        </ShownSheet>
      );
    });
}

const ShownSheet = createContext({ label: '', open: false, onClose: () => {}, remove: () => {} });

/** Error in place of the sheet. Doesn't use the sheet's own code, which may have failed to load. */
function BrokenSheet(broken: CaughtError) {
  const { label, open, onClose, remove } = use(ShownSheet);
  const retry = useRetry(broken);
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
      {broken.error instanceof LoadError ? (
        <LoadFailure error={broken.error} onRetry={retry} part="form" />
      ) : (
        <ErrorState title="Something went wrong" error={broken.error} onRetry={retry} />
      )}
      <Button variant="ghost" className="mx-auto" onClick={onClose}>
        Close
      </Button>
    </div>
  );
}
