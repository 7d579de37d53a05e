import { readlink } from 'node:fs/promises';
import type { Logger } from 'pino';
import { keepLog, startEmbeddedPostgres } from './embedded-postgres.ts';

const CHECK_MS = 500;
/** Where it does not start it is tried again after twice as long each time, up to this. */
const RETRY_MS_MAX = 30_000;

export type SupervisedPostgres = { url: string; stop: () => Promise<void> };

/**
 * Starts the embedded PostgreSQL and starts it again whenever it has ended by itself, e.g. killed
 * for memory. Its address stays the same, so connections only have to be made anew.
 */
export async function supervisePostgres(dir: string, log: Logger): Promise<SupervisedPostgres> {
  let server = await startEmbeddedPostgres({ dir });
  const { url } = server;
  const place = await readlink(dir).catch(() => null);
  if (place) log.info(`The database lies in ${place}, where ${dir} leads`);
  let checking: Promise<void> | null = null;
  let failed: { reason: string; waitMs: number; tryAgainAt: number } | null = null;

  const start = async () => {
    try {
      server = await startEmbeddedPostgres({ dir });
      log.warn({ pid: server.pid }, 'PostgreSQL runs again');
      failed = null;
    } catch (error) {
      const reason = String(error);
      // A disk that is full is not filled with the same line.
      if (reason !== failed?.reason) log.error({ err: error }, 'PostgreSQL does not start');
      const waitMs = Math.min(RETRY_MS_MAX, 2 * (failed?.waitMs ?? CHECK_MS));
      failed = { reason, waitMs, tryAgainAt: performance.now() + waitMs };
    }
  };
  const check = async () => {
    if (failed === null) {
      if (await server.isRunning()) return;
      log.error({ pid: server.pid }, 'PostgreSQL has ended by itself; starting it again');
      await keepLog(dir);
    } else if (performance.now() < failed.tryAgainAt) return;
    await start();
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
