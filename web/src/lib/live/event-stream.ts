import { useSyncExternalStore } from 'react';
import { useOnline } from './online.ts';

/*
 * Whether the event stream is connected. Separate from follow-changes.ts, which loads after the first screen.
 */

let connected = false;
const listeners = new Set<() => void>();

/** Records whether the event stream is open. */
export function setConnected(value: boolean): void {
  if (connected === value) return;
  connected = value;
  for (const listener of listeners) listener();
}

export const isConnected = (): boolean => connected;

/**
 * A `refetchInterval`: polls every `ms` while the stream is down. False if changes are pushed or the server
 * is unreachable.
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
