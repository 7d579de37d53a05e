import { useEffect, useRef, useState } from 'react';
import { notify } from './notify.ts';

/** What has to be fetched: a `loadable`. */
export type Fetchable = { preload: () => Promise<void>; isLoaded: () => boolean };

/**
 * Opens what may still have to be fetched: at once where its code is here, else as soon as it comes, unless whoever asked for
 * it has pressed Escape or gone elsewhere meanwhile. Where it cannot be had, that is said.
 */
export function useOpening() {
  const [waitingFor, setWaitingFor] = useState<Fetchable | null>(null);
  const waiting = useRef<AbortController>(null);
  useEffect(() => () => waiting.current?.abort(), []);

  function open(code: Fetchable, show: () => void): void {
    waiting.current?.abort();
    if (code.isLoaded()) return show();
    const controller = new AbortController();
    const { signal } = controller;
    waiting.current = controller;
    signal.addEventListener('abort', () => setWaitingFor(null));
    // The page itself may move the focus meanwhile: who goes elsewhere uses the pointer or the Tab key.
    addEventListener('pointerdown', () => controller.abort(), { signal, capture: true });
    addEventListener('keydown', ({ key }) => (key === 'Escape' || key === 'Tab') && controller.abort(), {
      signal,
      capture: true,
    });
    // It is a function, which a setter would call.
    setWaitingFor(() => code);
    void code.preload().then(() => {
      if (signal.aborted) return;
      controller.abort();
      if (!code.isLoaded())
        notify.failure('This could not be opened', { description: 'Please try again.', id: 'popup' });
      else show();
    });
  }
  return { open, waitingFor };
}
