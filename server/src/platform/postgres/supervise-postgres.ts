import type { Logger } from 'pino';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

const CHECK_MS = 500;

export type SupervisedPostgres = { url: string; stop: () => Promise<void> };

/**
 * Starts the embedded PostgreSQL and starts it again whenever it has ended by itself, e.g. killed
 * for memory. Its address stays the same, so connections only have to be made anew.
 */
export async function supervisePostgres(dir: string, log: Logger): Promise<SupervisedPostgres> {
  let server = await startEmbeddedPostgres({ dir });
  const { url } = server;
  let checking: Promise<void> | null = null;

  const check = async () => {
    if (await server.isRunning()) return;
    log.error({ pid: server.pid }, 'PostgreSQL has ended by itself; starting it again');
    try {
      server = await startEmbeddedPostgres({ dir });
      log.warn({ pid: server.pid }, 'PostgreSQL runs again');
    } catch (error) {
      log.error({ err: error }, 'PostgreSQL does not start');
    }
  };
  const timer = setInterval(() => {
    checking ??= check().finally(() => {
      checking = null;
    });
  }, CHECK_MS).unref();

  return {
    url,
    stop: async () => {
      clearInterval(timer);
      await checking;
      await server.stop();
    },
  };
}
