import type { Routing } from '../platform/cluster-settings.ts';
import { oneAtATime } from '../platform/concurrency/one-at-a-time.ts';
import type { Services } from '../platform/context.ts';
import type { Driver } from './drivers/driver.ts';
import { removeFiles } from './files/remove-files.ts';
import { readCpuLoad } from './host/cpu-load.ts';
import { machineCpu } from './host/machine-cpu.ts';
import { noteMachine } from './machines/queries.ts';
import { readOffer } from './machines/read-offer.ts';
import { sweepFiles } from './machines/sweep-files.ts';
import type { CpuLoad, Offer } from './model/offer.ts';
import type { WorkloadKind, WorkloadKinds } from './model/workload-kind.ts';
import { WAKE_SIGNAL } from './queries.ts';
import { createScheduler } from './queue/schedule.ts';
import { endWorkloads } from './reconcile/end-workloads.ts';
import { type Reconciler, reconcileNext } from './reconcile/reconcile.ts';
import { watchStarts } from './reconcile/start-watch.ts';

const TICK_MS = 1_000;
/** Workloads that are reconciled at the same time. */
const CONCURRENCY = 4;
const SWEEP_EVERY_MS = 60_000;

export type EngineOptions = {
  driver: Driver;
  kinds: WorkloadKinds;
  /** The machine whose workloads it looks after. */
  machineId: string;
  /** Where workloads reach the server. */
  serverUrl: () => Promise<string>;
  /** The routers in front of model servers. */
  routing?: Routing | null;
  /** Whether this server holds the claim on the machine (claim-machine.ts). Always, unless said. */
  mayWork?: () => boolean;
  /** The machine's processors and memory, and what wants them; this computer's own, unless said. */
  cpu?: () => Promise<Offer['cpu']>;
  cpuLoad?: () => CpuLoad;
};

export type Engine = {
  /** Begins to keep workloads in their wanted state. The server must answer by then. */
  start: () => Promise<void>;
  /** Does all that is due now; tests call it instead of `start`. */
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

/** The loop around the passes over the workloads of one machine. `claimMachine` lets only one server run it. */
export function createEngine(
  services: Pick<Services, 'db' | 'clock' | 'events' | 'log'>,
  options: EngineOptions,
): Engine {
  const { db, clock, events } = services;
  const { driver, machineId } = options;
  const log = services.log.child({ part: 'engine' });
  let ended = false;
  let ticker: NodeJS.Timeout | undefined;
  let listening: (() => void)[] = [];

  const pass = createPass({ ...services, log }, options, () => ended);
  const passes = oneAtATime(pass, (error) => log.error({ err: error }, 'an engine pass failed'));
  const wake = () => {
    if (ticker) passes.ask();
  };

  driver.onChange((workloadId) => {
    if (ended) return;
    db.updateTable('workloads')
      .set({ check_at: clock.now() })
      .where('id', '=', workloadId)
      .execute()
      .then(wake, (error: unknown) =>
        log.warn(
          { err: error },
          'could not wake the engine for a process that has changed; the next tick finds it',
        ),
      );
  });

  return {
    pass,
    start: async () => {
      // Where a signal is not heard, the next tick does.
      listening = [events.onSignal(WAKE_SIGNAL, wake), events.onReconnect(wake)];
      ticker = setInterval(wake, TICK_MS);
      wake();
    },
    shutdown: async () => {
      ended = true;
      clearInterval(ticker);
      await passes.end();
      for (const stop of listening) stop();
      if (driver.endsWithServer) await endWorkloads({ db, driver, machineId, log });
    },
  };
}

/** One pass over the workloads of a machine. */
function createPass(
  { db, clock, log }: Pick<Services, 'db' | 'clock' | 'log'>,
  {
    driver,
    kinds,
    machineId,
    serverUrl,
    routing = null,
    mayWork = () => true,
    cpu = async () => machineCpu(),
    cpuLoad = readCpuLoad,
  }: EngineOptions,
  hasEnded: () => boolean,
): () => Promise<void> {
  const starts = watchStarts(clock.now);
  const parts: Reconciler = {
    db,
    driver,
    kinds,
    log,
    machineId,
    now: clock.now,
    serverUrl,
    routing,
    mayWork,
    starts,
  };
  const schedule = createScheduler(parts);
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function drainDue(): Promise<void> {
    for (;;) {
      if (hasEnded() || !mayWork()) return;
      try {
        if (!(await reconcileNext(parts))) return;
      } catch (error) {
        // Its lease runs out, and it is looked at again then. Where it is the database that is
        // away, the next call would fail at once: the next tick tries again.
        log.error({ err: error }, 'a workload could not be reconciled');
        return;
      }
    }
  }

  async function offer(): Promise<void> {
    const machine = { cpu: await cpu(), load: cpuLoad() };
    await noteMachine(db, machineId, await readOffer(driver, machine, starts.trouble()));
  }

  return async () => {
    if (!mayWork()) return;
    await offer();
    if (performance.now() - sweptAt > SWEEP_EVERY_MS) {
      sweptAt = performance.now();
      await sweepFiles(parts);
    }
    do {
      const wasResting = starts.trouble()?.isResting;
      await Promise.all(Array.from({ length: CONCURRENCY }, drainDue));
      if (!mayWork()) return;
      // Before the queue sends the next ones where nothing can be started.
      if (starts.trouble()?.isResting && !wasResting) await offer();
    } while ((await schedule(clock.now())) > 0);
    await removeFiles(parts, clock.now());
  };
}
