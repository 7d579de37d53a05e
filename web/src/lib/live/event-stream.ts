import { useSyncExternalStore } from 'react';
import { useOnline } from './online.ts';

/*
 * Whether changes are pushed. Apart from what listens to them (follow-changes.ts), which comes after the first screen.
 */

let connected = false;
const listeners = new Set<() => void>();

/** Says whether the event stream is open. */
export function setConnected(value: boolean): void {
  if (connected === value) return;
  connected = value;
  for (const listener of listeners) listener();
}

export const isConnected = (): boolean => connected;

/**
 * For `refetchInterval`: `ms` while the stream is down, else false, because then changes are pushed. False too
 * while the server is away: there is nobody to ask.
 */
export function useFallbackInterval(ms: number): number | false {
  const live = useSyncExternalStore(subscribe, () => connected);
  const online = useOnline();
  return live || !online ? false : ms;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
