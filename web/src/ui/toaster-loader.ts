import { useSyncExternalStore } from 'react';
import type { toast } from 'sonner';

type Toast = typeof toast;

let wanted = false;
const listeners = new Set<() => void>();
const { promise: loaded, resolve: toasterIsThere } = Promise.withResolvers<Toast>();

export { toasterIsThere };

/** Mounts the toaster and resolves to its function once it listens. */
export function loadToaster(): Promise<Toast> {
  wanted = true;
  for (const listener of listeners) listener();
  return loaded;
}

/** Returns true once a toast was requested. */
export function useToasterRequested(): boolean {
  return useSyncExternalStore(subscribe, () => wanted);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
