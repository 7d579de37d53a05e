import { fileURLToPath } from 'node:url';
import type { Sandbox } from '../sandbox.ts';

const ASK_READER = fileURLToPath(new URL('./ask-reader-program.ts', import.meta.url));

/**
 * Runs programs in another container, through the reader's socket (reader-program.ts). That container has the
 * same programs at the same paths, but of the server's files only shared ones. It may run several programs at
 * the same time, which are not isolated from each other.
 */
export function readerSandbox(sharedDir: string, socketPath: string): Sandbox {
  return {
    kind: 'reader',
    sharedDir,
    enclose: async ({ argv, cwd }) => [
      process.execPath,
      ASK_READER,
      socketPath,
      JSON.stringify({ argv, cwd }),
    ],
  };
}
