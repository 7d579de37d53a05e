/** What the one field of two conversations has to know of the one that it does not stand in. */
export type Follower = {
  answering: boolean;
  isAskable: boolean;
  ask: (question: string) => void;
  stop: () => void;
  /** Told when its settings do not let anything be asked. */
  onHeldUp: () => void;
};

/** Two conversations side by side that are asked in one field. */
export type AskedTogether = {
  /** Takes part until the function that it returns is called. */
  follow: (follower: Follower) => () => void;
  follower: () => Follower | undefined;
  subscribe: (onChange: () => void) => () => void;
};

/** `field`: where the question is asked, for the conversation that leads; the other one has none. */
export type Together = { conversations: AskedTogether; field?: HTMLElement | null };

export function askedTogether(): AskedTogether {
  let current: Follower | undefined;
  const listeners = new Set<() => void>();
  const set = (next: Follower | undefined) => {
    current = next;
    for (const onChange of listeners) onChange();
  };
  return {
    follow: (follower) => {
      set(follower);
      return () => current === follower && set(undefined);
    },
    follower: () => current,
    subscribe: (onChange) => {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
  };
}
