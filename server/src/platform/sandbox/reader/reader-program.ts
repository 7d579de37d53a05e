import { serveReader } from './serve-reader.ts';

/*
 * Runs programs that read uploads, for servers that have no sandbox themselves, such as servers in a
 * container. It runs next to the server, without its secrets, its database, and its files other than shared
 * ones.
 * `node reader-program.ts SOCKET`
 */

const [socketPath] = process.argv.slice(2);
if (!socketPath) throw new Error('Usage: reader-program.ts SOCKET');
// The server is in the same group, and must be able to read the programs' output files.
process.umask(0o007);
const stop = await serveReader(socketPath);
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    stop();
    process.exit(0);
  });
