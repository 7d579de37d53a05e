type Ask = (question: string) => void;

/** Conversations side by side: what is asked in one of them is asked in the others. */
export type AskedTogether = {
  /** Takes part until the function that it returns is called. */
  join: (id: string, ask: Ask) => () => void;
  /** Hands on what was asked in this one. */
  pass: (from: string, question: string) => void;
};

export function askedTogether(): AskedTogether {
  const asks = new Map<string, Ask>();
  return {
    join: (id, ask) => {
      asks.set(id, ask);
      return () => void asks.delete(id);
    },
    pass: (from, question) => {
      for (const [id, ask] of asks) if (id !== from) ask(question);
    },
  };
}
