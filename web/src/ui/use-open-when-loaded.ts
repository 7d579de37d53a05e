import { useEffect, useRef, useState } from 'react';
import { notify } from './notify.ts';

/** Lazy code: a `loadable`. */
export type Preloadable = { preload: () => Promise<void>; isLoaded: () => boolean };

/**
 * Opens lazy content immediately if it is loaded, else once it loads, unless the user presses Escape or moves
 * on first. Reports load failures.
 */
export function useOpenWhenLoaded() {
  const [waitingFor, setWaitingFor] = useState<Preloadable | null>(null);
  const waiting = useRef<AbortController>(null);
  useEffect(() => () => waiting.current?.abort(), []);

  function open(code: Preloadable, show: () => void): void {
    waiting.current?.abort();
    if (code.isLoaded()) return show();
    const controller = new AbortController();
    const { signal } = controller;
    waiting.current = controller;
    signal.addEventListener('abort', () => setWaitingFor(null));
    // The page itself may move the focus; only the pointer and Tab count as moving on.
    addEventListener('pointerdown', () => controller.abort(), { signal, capture: true });
    addEventListener('keydown', ({ key }) => (key === 'Escape' || key === 'Tab') && controller.abort(), {
      signal,
      capture: true,
    });
    // `code` is callable, and setState would call it.
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
