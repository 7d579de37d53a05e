/** Arguments of a command of `./bakehouse`. */
export type Arguments = {
  words: string[];
  /** The user's current folder, for relative paths. */
  startedIn: string;
  check: boolean;
  models: boolean;
  /** Roles of the server that `up` starts. Defaults to all roles. */
  services?: string | undefined;
  /** `import`: the owner of the new asset, and its title below. */
  user?: string | undefined;
  everybody?: boolean | undefined;
  title?: string | undefined;
  /** `import`: deletes a public asset. */
  remove?: boolean | undefined;
  /** `import`: lists all public assets. */
  list?: boolean | undefined;
  scale: boolean;
  /** `test`: runs the long tests, with many rounds and seeds. */
  soak: boolean;
  /** `--scale`: fraction of the full numbers of objects. */
  fraction: number;
};

/** Runs one command. Returns the exit code of the process. */
export type Command = (args: Arguments) => Promise<number>;
