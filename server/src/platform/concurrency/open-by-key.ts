export type OpenByKey = ReturnType<typeof openByKey>;

/** Counts what is open in this process by its key, such as the user whose it is. */
export function openByKey() {
  const open = new Map<string, number>();
  let all = 0;
  return {
    /** How much is open of all keys. */
    all: () => all,
    /** How much is open of one. */
    of: (key: string): number => open.get(key) ?? 0,
    /** Counts one more. Returns how to leave; null where `max` of the key are open, of which this is none then. */
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
