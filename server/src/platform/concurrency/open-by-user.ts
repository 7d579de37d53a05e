/** Counts what is open of each user in this process. */
export function openByUser() {
  const open = new Map<string, number>();
  return {
    /** Counts one more. Returns how to leave; null where `max` of the user are open, of which this is none then. */
    enter: (userId: string, max: number): (() => void) | null => {
      const own = open.get(userId) ?? 0;
      if (own >= max) return null;
      open.set(userId, own + 1);
      return () => {
        const left = (open.get(userId) ?? 1) - 1;
        if (left === 0) open.delete(userId);
        else open.set(userId, left);
      };
    },
  };
}
