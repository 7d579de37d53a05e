import { useEffect, useEffectEvent } from 'react';

/** Other parts of the page, and what people add to it, hear of it by this name. */
const EVENT = 'fluxKontextHistoryRefresh';

/** Says that an edit has ended: whoever shows the history reads it again. */
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
