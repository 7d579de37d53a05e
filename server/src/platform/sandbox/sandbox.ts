/** A program that processes untrusted files, and everything it may access. */
export type SandboxedCommand = {
  /** The program with its arguments. It must receive signals sent to the process that starts it. */
  argv: string[];
  cwd: string;
  /** Folders and files that the program must be able to read: itself and its inputs. */
  reads: string[];
  /** Folders that the program may write to. */
  writes: string[];
  /** User that the program runs as, if the sandbox separates by user. */
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
  /** Folder for shared files, on the same disk as the blobs, so that files need no copy. */
  sharedDir: string;
  /** Returns the command that runs a program in the sandbox. Rejects with a sentence if impossible. */
  enclose: (program: SandboxedCommand) => Promise<string[]>;
};

/** Returns a sandbox without isolation. */
export function noSandbox(sharedDir: string): Sandbox {
  return { kind: 'none', sharedDir, enclose: async ({ argv }) => argv };
}
