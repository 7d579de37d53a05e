export type OpenByKey = ReturnType<typeof openByKey>;

/** Counts open things in this process, such as streams, by a key, such as a user's id. */
export function openByKey() {
  const open = new Map<string, number>();
  let all = 0;
  return {
    /** Returns the number for all keys. */
    all: () => all,
    /** Returns the number for one key. */
    of: (key: string): number => open.get(key) ?? 0,
    /** Counts one more. Returns a function that uncounts it, or null if the key already has `max`. */
    enter: (key: string, max: number): (() => void) | null => {
      const own = open.get(key) ?? 0;
      if (own >= max) return null;
      open.set(key, own + 1);
      all += 1;
      return () => {
        all -= 1;
        const left = (open.get(key) ?? 1) - 1;
        if (left === 0) open.delete(key);
        else open.set(key, left);
      };
    },
  };
}
