import { createContext, Suspense, use, useEffect, useEffectEvent, useLayoutEffect, useState } from 'react';
import { loadable } from '../../lib/loadable.tsx';
import { Boundary } from '../../ui/boundary.tsx';
import { notify } from '../../ui/notify.ts';
import { bufferKeystrokes, releaseKeystrokes } from './type-ahead-buffer.ts';

const CommandPalette = loadable(async () => (await import('./command-palette.tsx')).CommandPalette);

/** Preloads the code of the palette. */
export const preloadPalette = CommandPalette.preload;

/** `begun` is the initial text, or null while the palette is closed. */
export function usePalette(isVisitor: boolean) {
  const [begun, setBegun] = useState<string | null>(null);
  // The expected session is missing: don't open the palette for the next user.
  if (isVisitor && begun !== null) setBegun(null);
  const open = (typed = '') => {
    if (isVisitor) return;
    // Retries a failed load.
    void preloadPalette();
    setBegun((before) => before ?? typed);
  };
  return { begun, open, close: () => setBegun(null) };
}

type Props = { begun: string; onClose: () => void };

/** The palette. Buffers keys until its code loads; if that fails, reports it and closes. */
export function DeferredPalette({ begun, onClose }: Props) {
  return (
    <>
      {/* First, so that it buffers keys before the palette takes them. */}
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

/** Buffers keys while mounted, until the palette takes them. Unmounting releases the keyboard. */
function KeptKeys({ begun, onEscape }: { begun: string; onEscape: () => void }) {
  const callOff = useEffectEvent(onEscape);
  useLayoutEffect(() => {
    bufferKeystrokes(begun, () => callOff());
    return () => void releaseKeystrokes();
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
