import { useSyncExternalStore } from 'react';
import type { toast } from 'sonner';

type Toast = typeof toast;

let wanted = false;
const listeners = new Set<() => void>();
const { promise: loaded, resolve: toasterIsThere } = Promise.withResolvers<Toast>();

export { toasterIsThere };

/** Has the toaster mounted, which loads its code, and gives its function once it listens. */
export function loadToaster(): Promise<Toast> {
  wanted = true;
  for (const listener of listeners) listener();
  return loaded;
}

/** Whether there has been anything to say yet. */
export function useToasterRequested(): boolean {
  return useSyncExternalStore(subscribe, () => wanted);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
