/** Arguments of a command of `./bakehouse`. */
export type Arguments = {
  words: string[];
  /** The user's current folder, for relative paths. */
  startedIn: string;
  check: boolean;
  models: boolean;
  /** The roles of the server that `up` starts. Defaults to all. */
  services?: string | undefined;
  /** Owner and title (import). */
  user?: string | undefined;
  everybody?: boolean | undefined;
  title?: string | undefined;
  /** Deletes a public asset (import). */
  remove?: boolean | undefined;
  /** Lists all public assets (import). */
  list?: boolean | undefined;
  scale: boolean;
  /** Runs the long tests: many rounds, many seeds. */
  soak: boolean;
  /** Fraction of the numbers of `--scale`. */
  fraction: number;
};

/** Runs one command; resolves to the exit code of the process. */
export type Command = (args: Arguments) => Promise<number>;
