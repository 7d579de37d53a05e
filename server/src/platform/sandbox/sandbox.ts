/** A program that processes untrusted files, and everything it may access. */
export type SandboxedCommand = {
  /** The program with its arguments. It gets the signals sent to the first process. */
  argv: string[];
  cwd: string;
  /** Folders and files that it needs to read: itself and its inputs. */
  reads: string[];
  /** Folders it may write to. */
  writes: string[];
  /** The user to run as, if the sandbox separates by user. */
  user: number;
};

/**
 * Isolates programs that process untrusted files from the server's secret, blobs and database, and from each
 * other.
 *
 *   user        each program runs as a separate user, which owns nothing else on the machine
 *   bubblewrap  each program sees only the files that it needs, and no other process
 *   reader      programs run in a container next to the server, with only the files shared with them
 *   none        no isolation: programs may do everything that the server may
 */
export type Sandbox = {
  kind: 'user' | 'bubblewrap' | 'reader' | 'none';
  /** Next to the blobs, so that they can be shared without a copy. */
  sharedDir: string;
  /** Returns the command to run a program in the sandbox. Rejects with a sentence if impossible. */
  enclose: (program: SandboxedCommand) => Promise<string[]>;
};

/** Returns a sandbox without isolation. */
export function noSandbox(sharedDir: string): Sandbox {
  return { kind: 'none', sharedDir, enclose: async ({ argv }) => argv };
}
