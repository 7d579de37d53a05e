import { createContext, Suspense, use, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { loadable } from '../../lib/loadable.tsx';
import { Boundary } from '../../ui/boundary.tsx';
import { notify } from '../../ui/notify.ts';
import { keepKeys, takeKeys } from './kept-keys.ts';

const CommandPalette = loadable(async () => (await import('./command-palette.tsx')).CommandPalette);

/** Fetches the code of the palette before it is opened. */
export const preloadPalette = CommandPalette.preload;

/** `begun` is null while the palette is closed, otherwise what was typed elsewhere that it goes on from. */
export function usePalette(isVisitor: boolean) {
  const [begun, setBegun] = useState<string | null>(null);
  // Who was expected is not signed in: it does not open for whoever comes later.
  if (isVisitor && begun !== null) setBegun(null);
  const open = (typed = '') => {
    if (isVisitor) return;
    // It may have failed before.
    void preloadPalette();
    setBegun((before) => before ?? typed);
  };
  return { begun, open, close: () => setBegun(null) };
}

type Props = { begun: string; onClose: () => void };

/** The palette; what is typed before it is there is kept for it. Where it cannot be had it says so and closes. */
export function DeferredPalette({ begun, onClose }: Props) {
  return (
    <>
      {/* The first: it keeps the keys before the palette may take them. */}
      <KeptKeys begun={begun} onEscape={onClose} />
      <Close value={onClose}>
        <Boundary fallback={Unavailable}>
          <Suspense>
            <CommandPalette onClose={onClose} />
          </Suspense>
        </Boundary>
      </Close>
    </>
  );
}

/** As long as it stands the keys are kept, unless they were taken; the page has them back when it goes. */
function KeptKeys({ begun, onEscape }: { begun: string; onEscape: () => void }) {
  const callOff = useEffectEvent(onEscape);
  useLayoutEffect(() => {
    keepKeys(begun, () => callOff());
    return () => void takeKeys();
  }, [begun]);
  return null;
}

const Close = createContext(() => {});

function Unavailable() {
  const close = useEffectEvent(use(Close));
  useEffect(() => {
    notify.failure('The search could not be opened', { description: 'Please try again.', id: 'palette' });
    close();
  }, []);
  return null;
}
