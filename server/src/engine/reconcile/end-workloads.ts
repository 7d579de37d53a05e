import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import type { AttemptId, Driver } from '../drivers/driver.ts';
import { listStarted, markInterrupted } from '../queries.ts';

/** How long a workload may take to save its work when the server ends. */
const GRACE_MS = 30_000;
const LOOK_MS = 50;

type Parts = { db: Database; driver: Driver; machineId: string; log: Logger };

/** Asks this machine's workloads to save their work and exit; kills those that take too long. */
export async function endWorkloads(parts: Parts): Promise<void> {
  const { driver, log } = parts;
  const started = await findStarted(parts);
  const alive = await selectAlive(driver, started);
  const isNoted = await recordInterrupted(parts, alive);
  if (alive.length > 0) {
    const seconds = GRACE_MS / 1000;
    log.info({ workloads: alive.length }, `Waiting up to ${seconds} s for running work to save itself`);
  }
  await Promise.all(alive.map(({ id, attempt }) => driver.stop(id, attempt)));
  const left = await waitForEnd(driver, alive);
  await Promise.all(left.map(({ id, attempt }) => driver.kill(id, attempt)));
  if (alive.length > 0)
    log.info({ ended: alive.length - left.length, killed: left.length }, 'Running work has ended');
  await Promise.all(started.map(({ id, attempt }) => driver.tidy(id, attempt)));
  // If the database was unavailable before, try again.
  if (!isNoted) await recordInterrupted(parts, alive);
}

/**
 * Returns the attempts that have begun here and may be alive. If the database is unavailable, returns all
 * alive attempts of the driver, because without a server nothing would watch them.
 */
async function findStarted({ db, driver, machineId, log }: Parts): Promise<AttemptId[]> {
  try {
    return await listStarted(db, machineId);
  } catch (error) {
    log.warn({ err: error }, 'database unavailable; ending all work on this machine');
    return driver.listAlive();
  }
}

/**
 * Marks the attempts as interrupted by us, so that their end does not count as a failure. Returns false if
 * the database is unavailable; then it does count.
 */
async function recordInterrupted({ db, log }: Parts, attempts: AttemptId[]): Promise<boolean> {
  try {
    await markInterrupted(db, attempts);
    return true;
  } catch (error) {
    log.warn({ err: error }, 'failed to record that the shutdown interrupts work');
    return false;
  }
}

/** Waits until all have ended; returns the attempts that still run after the deadline. */
async function waitForEnd(driver: Driver, attempts: AttemptId[]): Promise<AttemptId[]> {
  const end = Date.now() + GRACE_MS;
  let left = attempts;
  for (;;) {
    left = await selectAlive(driver, left);
    if (left.length === 0 || Date.now() > end) return left;
    await sleep(LOOK_MS);
  }
}

async function selectAlive(driver: Driver, attempts: AttemptId[]): Promise<AttemptId[]> {
  const states = await Promise.all(attempts.map(({ id, attempt }) => driver.observe(id, attempt)));
  return attempts.filter((_, index) => states[index]?.state === 'alive');
}
