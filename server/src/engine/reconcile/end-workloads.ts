import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import type { Driver } from '../drivers/driver.ts';
import { listStarted, markInterrupted } from '../queries.ts';

/** How long a workload may take to save its work when the server ends. */
const GRACE_MS = 30_000;
const LOOK_MS = 50;

type Attempt = { id: string; attempt: number };
type Parts = { db: Database; driver: Driver; machineId: string; log: Logger };

/** Asks the workloads of this machine to save their work and end, and waits for them; who takes too long is killed. */
export async function endWorkloads({ db, driver, machineId, log }: Parts): Promise<void> {
  const started = await listStarted(db, machineId);
  let left = await selectAlive(driver, started);
  // By us, so that nobody counts it as a failure.
  await markInterrupted(
    db,
    left.map(({ id }) => id),
  );
  if (left.length > 0) {
    const seconds = GRACE_MS / 1000;
    log.info({ workloads: left.length }, `Waiting up to ${seconds} s for running work to save itself`);
  }
  await Promise.all(left.map(({ id, attempt }) => driver.stop(id, attempt)));
  const end = Date.now() + GRACE_MS;
  for (;;) {
    left = await selectAlive(driver, left);
    if (left.length === 0 || Date.now() > end) break;
    await sleep(LOOK_MS);
  }
  await Promise.all(left.map(({ id, attempt }) => driver.kill(id, attempt)));
  await Promise.all(started.map(({ id, attempt }) => driver.tidy(id, attempt)));
}

async function selectAlive(driver: Driver, attempts: Attempt[]): Promise<Attempt[]> {
  const states = await Promise.all(attempts.map(({ id, attempt }) => driver.observe(id, attempt)));
  return attempts.filter((_, index) => states[index]?.state === 'alive');
}
