import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Services } from '../platform/context.ts';
import { keepAlive } from '../platform/db/database.ts';
import type { Driver } from './drivers/driver.ts';
import { deleteArtefacts, listUnneededFiles, WAKE_CHANNEL } from './queries.ts';
import { type Reconciler, reconcileNext } from './reconcile.ts';
import { schedule } from './schedule.ts';
import type { WorkloadKind, WorkloadKinds } from './workload-kind.ts';

const TICK_MS = 1_000;
const RECONNECT_MS = 1_000;
/** Workloads that are looked at at the same time. */
const CONCURRENCY = 4;
/** How long a workload may take to save its work when the server ends. */
const SHUTDOWN_GRACE_MS = 30_000;
/**
 * Files and artefacts of a completed workload go at once: what its result names belongs to its
 * module by then. Those of others stay for whoever resumes it or asks why.
 */
const FILES_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

export type EngineOptions = {
  driver: Driver;
  kinds: WorkloadKinds;
  /** For the connection that listens. */
  databaseUrl: string;
  /** Where workloads reach the server. */
  serverUrl: () => string;
};

export type Engine = {
  /** Begins to keep workloads in their wanted state. The server must answer by then. */
  start: () => Promise<void>;
  /** Does all that is due now; a test calls it instead of `start`. */
  pass: () => Promise<void>;
  /**
   * Asks all workloads that would not outlive this server to save their work, waits for them, and
   * does nothing more. The server must still answer: they report what they saved. They go on after the next start.
   */
  shutdown: () => Promise<void>;
};

/** Registered kinds by name. Two of one name are a mistake. */
export function registerKinds(kinds: WorkloadKind[]): WorkloadKinds {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  if (byName.size !== kinds.length) throw new Error('Two workload kinds have the same name');
  return byName;
}

/**
 * The loop around `schedule` and `reconcileNext`. Any number of server processes may run it on one
 * database; where the driver's work ends with its server, `claimMachine` lets only one.
 */
export function createEngine(
  { db, clock, log }: Pick<Services, 'db' | 'clock' | 'log'>,
  options: EngineOptions,
): Engine {
  const { driver, kinds } = options;
  const parts: Reconciler = {
    db,
    driver,
    kinds,
    log: log.child({ part: 'engine' }),
    now: clock.now,
    serverUrl: options.serverUrl,
    listeningSince: clock.now(),
  };
  let ended = false;
  let running: Promise<void> | null = null;
  let again = false;
  let ticker: NodeJS.Timeout | undefined;
  let listener: pg.Client | null = null;

  async function pass(): Promise<void> {
    do {
      await Promise.all(Array.from({ length: CONCURRENCY }, drainDue));
    } while ((await schedule({ db, driver, kinds, now: clock.now() })) > 0);
    await removeFiles();
  }

  async function drainDue(): Promise<void> {
    for (;;) {
      if (ended) return;
      try {
        if (!(await reconcileNext(parts))) return;
      } catch (error) {
        // Its lease runs out, and it is looked at again then. Where it is the database that is
        // away, the next call would fail at once: the next tick tries again.
        parts.log.error({ err: error }, 'a workload could not be looked at');
        return;
      }
    }
  }

  /** One pass at a time; a wake-up during one asks for another. */
  function wake(): void {
    if (ended || !ticker) return;
    if (running) {
      again = true;
      return;
    }
    running = pass()
      .catch((error: unknown) => parts.log.error({ err: error }, 'an engine pass failed'))
      .finally(() => {
        running = null;
        if (!again) return;
        again = false;
        wake();
      });
  }

  async function listen(): Promise<void> {
    const client = new pg.Client({
      connectionString: options.databaseUrl,
      application_name: 'bakehouse engine',
      ...keepAlive,
    });
    client.on('notification', wake);
    client.on('error', (error) => parts.log.warn({ err: error }, 'the engine lost its connection'));
    await client.connect();
    client.once('end', listenAgain);
    await client.query(`listen ${WAKE_CHANNEL}`);
    listener = client;
  }

  /** Until then the ticks do alone. */
  function listenAgain(): void {
    if (ended) return;
    setTimeout(() => {
      if (!ended) listen().then(wake, listenAgain);
    }, RECONNECT_MS).unref();
  }

  async function removeFiles(): Promise<void> {
    const now = clock.now();
    for (const id of await listUnneededFiles(db, new Date(now.getTime() - FILES_KEPT_MS), 10)) {
      await driver.remove(id);
      await deleteArtefacts(db, id);
      await db.updateTable('workloads').set({ files_removed_at: now }).where('id', '=', id).execute();
    }
  }

  /** Marks what is running as interrupted by us, so that nobody counts it as a failure. */
  async function markInterrupted(): Promise<{ id: string; attempt: number }[]> {
    return db
      .updateTable('workloads')
      .set({ interrupted: true })
      .where('ended_at', 'is', null)
      .where('state', 'in', ['scheduling', 'pulling', 'starting', 'ready', 'degraded', 'stopping'])
      .where('attempt', '>', 0)
      .returning(['id', 'attempt'])
      .execute();
  }

  async function isAlive({ id, attempt }: { id: string; attempt: number }): Promise<boolean> {
    return (await driver.observe(id, attempt)).state === 'alive';
  }

  async function endWorkloads(): Promise<void> {
    let left = await markInterrupted();
    if (left.length > 0) {
      const seconds = SHUTDOWN_GRACE_MS / 1000;
      parts.log.info(
        { workloads: left.length },
        `waiting up to ${seconds} s for running work to save itself`,
      );
    }
    await Promise.all(left.map(({ id, attempt }) => driver.stop(id, attempt)));
    const end = Date.now() + SHUTDOWN_GRACE_MS;
    for (;;) {
      const alive = await Promise.all(left.map(isAlive));
      left = left.filter((_, index) => alive[index]);
      if (left.length === 0 || Date.now() > end) break;
      await sleep(50);
    }
    await Promise.all(left.map(({ id, attempt }) => driver.kill(id, attempt)));
  }

  driver.onEnd((workloadId) => {
    if (ended) return;
    db.updateTable('workloads')
      .set({ check_at: clock.now() })
      .where('id', '=', workloadId)
      .execute()
      .then(wake, (error: unknown) =>
        parts.log.warn({ err: error }, 'an ended process waits for the next tick'),
      );
  });

  return {
    pass,
    start: async () => {
      parts.listeningSince = clock.now();
      await listen();
      ticker = setInterval(wake, TICK_MS);
      wake();
    },
    shutdown: async () => {
      ended = true;
      clearInterval(ticker);
      await running;
      await listener?.end();
      if (driver.endsWithServer) await endWorkloads();
    },
  };
}
