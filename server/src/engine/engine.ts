import type { Routing } from '../platform/cluster-settings.ts';
import { oneAtATime } from '../platform/concurrency/one-at-a-time.ts';
import type { Services } from '../platform/context.ts';
import type { Driver } from './drivers/driver.ts';
import { removeFiles } from './files/remove-files.ts';
import { machineCpu, readCpuLoad } from './host/machine-cpu.ts';
import { recordMachineHeartbeat } from './machines/queries.ts';
import { readOffer } from './machines/read-machines.ts';
import { sweepFiles } from './machines/sweep-files.ts';
import type { CpuLoad, Offer } from './model/offer.ts';
import type { WorkloadKind, WorkloadKinds } from './model/workload-kind.ts';
import { WAKE_SIGNAL } from './queries.ts';
import { createScheduler } from './queue/schedule.ts';
import { endWorkloads } from './reconcile/end-workloads.ts';
import { type Reconciler, reconcileNext } from './reconcile/reconcile.ts';
import { watchStarts } from './reconcile/start-watch.ts';

const TICK_MS = 1_000;
/** Number of workloads reconciled concurrently. */
const CONCURRENCY = 4;
const SWEEP_EVERY_MS = 60_000;

export type EngineOptions = {
  driver: Driver;
  kinds: WorkloadKinds;
  /** The machine whose workloads it manages. */
  machineId: string;
  /** URL at which workloads reach the server. */
  serverUrl: () => Promise<string>;
  /** The routers in front of model servers. */
  routing?: Routing | null;
  /** Whether this server holds the claim on the machine (claim-machine.ts). Defaults to always. */
  mayWork?: () => boolean;
  /** CPUs, memory and load of the machine. Defaults to this computer's own. */
  cpu?: () => Promise<Offer['cpu']>;
  cpuLoad?: () => CpuLoad;
};

export type Engine = {
  /** Starts keeping workloads in their desired state. The server must already accept requests. */
  start: () => Promise<void>;
  /** Does all work that is due now; for tests, instead of `start`. */
  pass: () => Promise<void>;
  /**
   * Stops the loop. Asks the workloads whose driver ends with this server to save their work and exit, and
   * waits for them. The server must still accept their reports. They resume after the next start.
   */
  shutdown: () => Promise<void>;
};

/** Returns kinds by name. Throws on duplicate names. */
export function registerKinds(kinds: WorkloadKind[]): WorkloadKinds {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  if (byName.size !== kinds.length) throw new Error('Two workload kinds have the same name');
  return byName;
}

/** Loop around the passes of one machine. `claimMachine` ensures that only one server runs it. */
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
  const passes = oneAtATime(pass, (error) => log.error({ err: error }, 'engine pass failed'));
  const wake = () => {
    if (ticker) passes.request();
  };

  driver.onChange((workloadId) => {
    if (ended) return;
    db.updateTable('workloads')
      .set({ check_at: clock.now() })
      .where('id', '=', workloadId)
      .execute()
      .then(wake, (error: unknown) =>
        log.warn({ err: error }, 'failed to wake the engine after a process change; the next tick retries'),
      );
  });

  return {
    pass,
    start: async () => {
      // If a signal is missed, the next tick covers it.
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
        // The workload is reconciled again when its lease expires. During a database outage another call
        // would fail immediately, so wait for the next tick.
        log.error({ err: error }, 'failed to reconcile a workload');
        return;
      }
    }
  }

  async function offer(): Promise<void> {
    const machine = { cpu: await cpu(), load: cpuLoad() };
    await recordMachineHeartbeat(db, machineId, await readOffer(driver, machine, starts.trouble()));
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
      // Publish the pause before `schedule` assigns more work to a machine on which all starts fail.
      if (starts.trouble()?.isResting && !wasResting) await offer();
    } while ((await schedule(clock.now())) > 0);
    await removeFiles(parts, clock.now());
  };
}
