/** State of the second conversation that the shared question field needs. */
export type Follower = {
  answering: boolean;
  isAskable: boolean;
  ask: (question: string) => void;
  stop: () => void;
  /** Called on an attempt to send while its settings are invalid. */
  onHeldUp: () => void;
};

/** Two side-by-side conversations that share one question field. */
export type SharedQuestion = {
  /** Joins the shared field. Returns a function that leaves it. */
  follow: (follower: Follower) => () => void;
  follower: () => Follower | undefined;
  subscribe: (onChange: () => void) => () => void;
};

/** `field`: element that holds the question field; set only for the leading conversation. */
export type Together = { conversations: SharedQuestion; field?: HTMLElement | null };

export function createSharedQuestion(): SharedQuestion {
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
