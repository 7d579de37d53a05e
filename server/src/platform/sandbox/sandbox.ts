/** A program that runs what strangers have made, and all that it may reach. */
export type SandboxedCommand = {
  /** The program with its arguments. It gets the signals that its first process gets. */
  argv: string[];
  cwd: string;
  /** Folders and files that it needs to read: itself, and what it works on. */
  reads: string[];
  /** Folders of its own. */
  writes: string[];
  /** The user that it runs as, where the sandbox separates by users. */
  user: number;
};

/**
 * What stands between a program that runs what strangers have made, and the server with the things of
 * everybody else: its secret, its blobs, its database, other such programs.
 *
 *   user        each runs as a user of its own, who owns nothing else on the machine
 *   bubblewrap  each sees nothing of the machine's files but what it needs, and no other process
 *   reader      they run in a container beside the server, which has nothing of it but the files that are lent
 *   none        each may do all that the server may
 */
export type Sandbox = {
  kind: 'user' | 'bubblewrap' | 'reader' | 'none';
  /** Beside the blobs, so that they can be shared without a copy. */
  sharedDir: string;
  /** The words that run a program in the sandbox. Rejects with a sentence where it could not run there. */
  enclose: (program: SandboxedCommand) => Promise<string[]>;
};

/** No sandbox at all. */
export function noSandbox(sharedDir: string): Sandbox {
  return { kind: 'none', sharedDir, enclose: async ({ argv }) => argv };
}
