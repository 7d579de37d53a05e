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
    const callOff = new AbortController();
    const { signal } = callOff;
    const focused = document.activeElement;
    waiting.current = callOff;
    signal.addEventListener('abort', () => setWaitingFor(null));
    addEventListener('keydown', ({ key }) => key === 'Escape' && callOff.abort(), { signal, capture: true });
    // It is a function, which a setter would call.
    setWaitingFor(() => code);
    void code.preload().then(() => {
      if (signal.aborted) return;
      callOff.abort();
      if (!code.isLoaded())
        notify.failure('This could not be opened', { description: 'Please try again.', id: 'popup' });
      else if (document.activeElement === focused) show();
    });
  }
  return { open, waitingFor };
}
