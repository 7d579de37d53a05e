import { useSyncExternalStore } from 'react';

/** An enumerated setting, stored in this browser and synced between its tabs. */
export type StoredChoice<Choice extends string> = {
  get: () => Choice;
  set: (choice: Choice) => void;
  use: () => Choice;
};

/** `key` is the localStorage key; unknown stored values fall back to `fallback`. */
export function storedChoice<const Choice extends string>(
  key: string,
  choices: readonly Choice[],
  fallback: Choice,
  onChange: (choice: Choice) => void = () => undefined,
): StoredChoice<Choice> {
  const listeners = new Set<() => void>();
  let current = readStored();

  function readStored(): Choice {
    try {
      const stored = localStorage.getItem(key);
      return choices.find((choice) => choice === stored) ?? fallback;
    } catch {
      return fallback;
    }
  }

  function apply(choice: Choice): void {
    current = choice;
    onChange(choice);
    for (const listener of listeners) listener();
  }

  globalThis.addEventListener?.('storage', (event) => {
    if (event.key === key) apply(readStored());
  });

  const get = () => current;
  return {
    get,
    set(choice) {
      try {
        localStorage.setItem(key, choice);
      } catch {
        // Storage is blocked: the choice lasts until the tab closes.
      }
      apply(choice);
    },
    use: () =>
      useSyncExternalStore((listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      }, get),
  };
}
