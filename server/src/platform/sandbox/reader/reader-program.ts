import { serveReader } from './serve-reader.ts';

/*
 * Reads what strangers have uploaded for servers that have no sandbox, as a container has none: it runs beside the server,
 * without its secrets, its database and its files but those that are lent. `node reader-program.ts SOCKET`
 */

const [socketPath] = process.argv.slice(2);
if (!socketPath) throw new Error('Usage: reader-program.ts SOCKET');
// What programs write, the server reads: it is of the same group.
process.umask(0o007);
const stop = await serveReader(socketPath);
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    stop();
    process.exit(0);
  });
