import { readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { saveCrashLog, startEmbeddedPostgres } from './embedded-postgres.ts';

const CHECK_MS = 500;
/** Delay after the first failed start; doubled after each further one, up to the maximum. */
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;

export type SupervisedPostgres = { url: string; stop: () => Promise<void> };

/**
 * Starts the embedded PostgreSQL, and restarts it when it exits unexpectedly, for example because it used too
 * much memory. Its URL never changes. Throws the errors of `startEmbeddedPostgres` if the first start fails.
 */
export async function supervisePostgres(dir: string, log: Logger): Promise<SupervisedPostgres> {
  let server = await startEmbeddedPostgres({ dir });
  const { url } = server;
  const place = await readlink(dir).catch(() => null);
  if (place) log.info(`database folder: ${place}, linked from ${dir}`);

  const stopping = new AbortController();
  const pause = (ms: number) =>
    sleep(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);

  const startAgain = async () => {
    log.error({ pid: server.pid }, 'postgres exited unexpectedly; restarting');
    await saveCrashLog(dir);
    let logged = '';
    for (let waitMs = RETRY_MS; !stopping.signal.aborted; waitMs = Math.min(2 * waitMs, RETRY_MS_MAX)) {
      try {
        server = await startEmbeddedPostgres({ dir });
        return log.warn({ pid: server.pid }, 'postgres restarted');
      } catch (error) {
        // Logging the same error again and again would fill the disk.
        if (String(error) !== logged) log.error({ err: error }, 'failed to start postgres');
        logged = String(error);
      }
      await pause(waitMs);
    }
  };
  const supervise = async () => {
    while (!stopping.signal.aborted) {
      await pause(CHECK_MS);
      if (!stopping.signal.aborted && !(await server.isRunning())) await startAgain();
    }
  };
  const supervising = supervise();

  return {
    url,
    stop: async () => {
      stopping.abort();
      await supervising;
      if (!(await server.stop())) log.info('postgres stays running for another Bakehouse process');
    },
  };
}
