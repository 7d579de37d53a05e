import { useSyncExternalStore } from 'react';

/** State outside React, so that work continues after its page unmounts. */
export type Store<Value> = { get: () => Value; set: (value: Value) => void; use: () => Value };

export function createStore<Value>(initial: Value): Store<Value> {
  let current = initial;
  const listeners = new Set<() => void>();
  const get = () => current;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    set(value) {
      current = value;
      for (const listener of listeners) listener();
    },
    use: () => useSyncExternalStore(subscribe, get),
  };
}
