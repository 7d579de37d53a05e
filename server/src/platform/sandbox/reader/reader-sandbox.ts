import { fileURLToPath } from 'node:url';
import type { Sandbox } from '../sandbox.ts';

const ASK_READER = fileURLToPath(new URL('./ask-reader-program.ts', import.meta.url));

/**
 * Programs run in another container, at whose socket the reader listens (reader-program.ts): it has the same programs at
 * the same places, and of the server's files those that are lent. It may run several at once, which are not kept from
 * each other.
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
