import { useEffect, useEffectEvent } from 'react';

/** Public event name: other parts of the page and user scripts may listen. */
const EVENT = 'fluxKontextHistoryRefresh';

/** Announces that an edit has ended, so that histories reload. */
export function announceEditEnd(): void {
  window.dispatchEvent(new Event(EVENT));
}

export function useHistoryRefresh(onRefresh: () => void): void {
  const refresh = useEffectEvent(onRefresh);
  useEffect(() => {
    const listen = () => refresh();
    window.addEventListener(EVENT, listen);
    return () => window.removeEventListener(EVENT, listen);
  }, []);
}
