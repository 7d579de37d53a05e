import { serveReader } from './serve-reader.ts';

/*
 * Reads uploads for servers without a sandbox, e.g. in a container: it runs next to the server, without its
 * secrets, its database and its files except shared ones. `node reader-program.ts SOCKET`
 */

const [socketPath] = process.argv.slice(2);
if (!socketPath) throw new Error('Usage: reader-program.ts SOCKET');
// The server reads the programs' output as a member of the same group.
process.umask(0o007);
const stop = await serveReader(socketPath);
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    stop();
    process.exit(0);
  });
