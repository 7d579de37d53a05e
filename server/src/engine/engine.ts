import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Services } from '../platform/context.ts';
import { openListener } from '../platform/db/open-listener.ts';
import type { Driver } from './drivers/driver.ts';
import { listBegun, markInterrupted, WAKE_CHANNEL } from './queries.ts';
import { type Reconciler, reconcileNext } from './reconcile.ts';
import { removeFiles } from './remove-files.ts';
import { schedule } from './schedule.ts';
import type { WorkloadKind, WorkloadKinds } from './workload-kind.ts';

const TICK_MS = 1_000;
const RECONNECT_MS = 1_000;
/** Workloads that are looked at at the same time. */
const CONCURRENCY = 4;
/** How long a workload may take to save its work when the server ends. */
const SHUTDOWN_GRACE_MS = 30_000;
export type EngineOptions = {
  driver: Driver;
  kinds: WorkloadKinds;
  /** For the connection that listens. */
  databaseUrl: string;
  /** Where workloads reach the server. */
  serverUrl: () => string;
  /** Whether this server has the machine at this moment (claim-machine.ts). Always, unless said. */
  mayWork?: () => boolean;
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
  const { driver, kinds, mayWork = () => true } = options;
  const parts: Reconciler = {
    db,
    driver,
    kinds,
    log: log.child({ part: 'engine' }),
    now: clock.now,
    serverUrl: options.serverUrl,
    mayWork,
  };
  let ended = false;
  let running: Promise<void> | null = null;
  let again = false;
  let ticker: NodeJS.Timeout | undefined;
  let listener: pg.Client | null = null;

  async function pass(): Promise<void> {
    do {
      await Promise.all(Array.from({ length: CONCURRENCY }, drainDue));
      if (!mayWork()) return;
    } while ((await schedule({ db, driver, kinds, now: clock.now() })) > 0);
    await removeFiles(db, driver, clock.now());
  }

  async function drainDue(): Promise<void> {
    for (;;) {
      if (ended || !mayWork()) return;
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
    listener = await openListener({
      url: options.databaseUrl,
      name: 'bakehouse engine',
      channel: WAKE_CHANNEL,
      onMessage: wake,
      onError: (error) => parts.log.warn({ err: error }, 'the engine lost its connection'),
    });
    listener.once('end', listenAgain);
  }

  /** Until then the ticks do alone. */
  function listenAgain(): void {
    if (ended) return;
    setTimeout(() => {
      if (!ended) listen().then(wake, listenAgain);
    }, RECONNECT_MS).unref();
  }

  type Attempt = { id: string; attempt: number };

  /** Those that live on this machine: others are a server's that has the work of this database now, or had it before. */
  async function selectAlive(attempts: Attempt[]): Promise<Attempt[]> {
    const states = await Promise.all(attempts.map(({ id, attempt }) => driver.observe(id, attempt)));
    return attempts.filter((_, index) => states[index]?.state === 'alive');
  }

  async function endWorkloads(): Promise<void> {
    let left = await selectAlive(await listBegun(db));
    // By us, so that nobody counts it as a failure.
    await markInterrupted(
      db,
      left.map(({ id }) => id),
    );
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
      left = await selectAlive(left);
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
