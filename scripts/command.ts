/** What a command of `./bakehouse` was called with. */
export type Arguments = {
  words: string[];
  /** The folder that the person stands in: relative paths are meant from there. */
  startedIn: string;
  check: boolean;
  models: boolean;
  /** The roles of the server that `up` starts; all unless said. */
  services?: string | undefined;
  /** Whose it becomes, and how it is called (import). */
  user?: string | undefined;
  everybody?: boolean | undefined;
  title?: string | undefined;
  /** Deletes one of everybody (import). */
  remove?: boolean | undefined;
  /** Names all that everybody has (import). */
  list?: boolean | undefined;
  scale: boolean;
  /** The tests that nobody waits for: many rounds, many seeds. */
  soak: boolean;
  /** Of the numbers of `--scale`. */
  fraction: number;
};

/** Runs one command; resolves to the exit code of the process. */
export type Command = (args: Arguments) => Promise<number>;
