import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Routing } from '../../platform/cluster-settings.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { LeasedTable } from '../../platform/leases/leased-table.ts';
import { runNextStep, type StepHandlers } from '../../platform/leases/run-next-step.ts';
import { CannotStartError, type Driver, type Launch } from '../drivers/driver.ts';
import { readSpecWithCheckpoint } from '../files/read-attempt-spec.ts';
import { findListening } from '../machines/read-machines.ts';
import type { Observed } from '../model/observed.ts';
import type { Workload } from '../model/workload.ts';
import { announce, type WorkloadKinds } from '../model/workload-kind.ts';
import { updateWorkload } from '../queries.ts';
import { columns, toWorkload, type WorkloadColumns } from '../workloads.ts';
import { describeStep } from './describe-step.ts';
import { plan, planUnstarted } from './plan.ts';
import { explainStart, type StartWatch } from './start-watch.ts';
import { CLOSING_LINES, type Output, writeStep } from './write-step.ts';

export type Reconciler = {
  db: Database;
  /** The machine whose workloads are reconciled. */
  machineId: string;
  driver: Driver;
  kinds: WorkloadKinds;
  log: Logger;
  now: () => Date;
  /** URL at which workloads reach the server. */
  serverUrl: () => Promise<string>;
  /** Whether this process still holds the claim on the machine. If not, nothing is started. */
  mayWork: () => boolean;
  /** The routers in front of model servers. */
  routing: Routing | null;
  /** Records whether starts succeed. */
  starts: StartWatch;
};

const LOOK_MS = 3_000;
const WAITING_LOOK_MS = 30_000;

/**
 * Returns the workloads that the engine of this machine reconciles. Workloads without a machine can only be
 * ended, by the engine of any machine.
 */
function workloadsOf(machineId: string): LeasedTable<WorkloadColumns, Workload> {
  return {
    name: 'workloads',
    columns,
    // Excludes work that waits for a slot: the queue handles it.
    due: sql<boolean>`ended_at is null and (state <> 'queued' or devices is not null or wanted = 'stopped')
      and (machine_id = ${machineId} or (machine_id is null and wanted = 'stopped'))`,
    // Work in a driver's own queue is observed less often, because the driver reports changes.
    lookAgainMs: sql<number>`case when state = 'queued' then ${WAITING_LOOK_MS}::int else ${LOOK_MS}::int end`,
    toRow: toWorkload,
  };
}

/** Observed state and output of the attempt. */
type Seen = { observed: Observed; output: Output };

/** What to do on the machine after the step was written. */
type Act = { do: 'stop' | 'kill'; workload: Workload } | { do: 'start'; workload: Workload; token: string };

/** Result of an action. `cause` is a user-facing text about why a start failed; null if unknown. */
type Done = { ok: true; serverUrl: string | null } | { ok: false; cause: string | null };

/** Executes the next step for the workload that has been due longest. Returns false if none is due. */
export async function reconcileNext(parts: Reconciler): Promise<boolean> {
  const { db, machineId, now, mayWork } = parts;
  return runNextStep({ db, table: workloadsOf(machineId), now, mayAct: mayWork }, workloadSteps(parts));
}

function workloadSteps(parts: Reconciler): StepHandlers<Workload, Seen, Act, Done> {
  const { driver } = parts;
  return {
    observe: async (leased) => {
      const { id, attempt } = leased;
      const observed: Observed = attempt === 0 ? { state: 'absent' } : await driver.observe(id, attempt);
      if (observed.state !== 'absent') await driver.tidy(id, attempt);
      return { observed, output: await readOutput(driver, leased, observed) };
    },
    apply: async (tx, before, { observed, output }) => {
      await recordAddress(tx, before, observed);
      const step = plan(before, observed, await findListening(tx, before.serverUrl));
      if (step.do !== 'nothing') {
        const log = logOf(parts, before);
        log.debug({ step, state: before.state, observed }, 'workload step');
        const sentence = describeStep(before, step);
        if (sentence) log.info(sentence);
      }
      const { workload, token } = await writeStep(parts, tx, before, step, output);
      if (step.do === 'start' && token) return { do: 'start', workload, token };
      return step.do === 'stop' || step.do === 'kill' ? { do: step.do, workload } : null;
    },
    act: async (act) => {
      const { id, attempt } = act.workload;
      if (act.do === 'start') return start(parts, act.workload, act.token);
      await (act.do === 'stop' ? driver.stop(id, attempt) : driver.kill(id, attempt));
      return { ok: true, serverUrl: null };
    },
    record: async (tx, before, act, done) => {
      if (act.do === 'start') await recordStart(parts, tx, before, done);
    },
  };
}

/** Writes only changes: the address of an attempt rarely changes. */
async function recordAddress(tx: Transaction, before: Workload, observed: Observed): Promise<void> {
  if (observed.state !== 'alive' || observed.address === undefined) return;
  if (observed.address !== before.address) await updateWorkload(tx, before.id, { address: observed.address });
}

function logOf({ log }: Reconciler, { id, attempt }: Workload): Logger {
  return log.child({ workload_id: id, attempt });
}

/**
 * Returns the output that is not in the log yet. A run sends its log in reports, so its output is read only
 * after it ended.
 */
async function readOutput(driver: Driver, leased: Workload, observed: Observed): Promise<Output> {
  if (leased.behaviour === 'deployment') return driver.output(leased.id, leased.outputCursor);
  const lines = observed.state === 'ended' ? await driver.logs(leased.id, CLOSING_LINES) : [];
  return { lines, cursor: leased.outputCursor };
}

/** Starts the attempt. Errors are only logged, because they contain paths and addresses. */
async function start(parts: Reconciler, workload: Workload, token: string): Promise<Done> {
  const { driver, starts } = parts;
  const fail = (error: unknown): Done => {
    logOf(parts, workload).error({ err: error }, 'workload could not be started');
    return { ok: false, cause: explainStart(error) };
  };
  let launch: Launch;
  try {
    launch = await readLaunch(parts, workload, token);
  } catch (error) {
    // The database failed, not the machine, so this is not recorded as a failed start.
    return fail(error);
  }
  try {
    await driver.start(launch);
    starts.recordSuccess();
    return { ok: true, serverUrl: launch.server.base_url };
  } catch (error) {
    if (error instanceof CannotStartError) {
      logOf(parts, workload).warn({ err: error }, 'workload cannot start');
      return { ok: false, cause: error.message };
    }
    starts.recordFailure(explainStart(error));
    return fail(error);
  }
}

async function readLaunch(parts: Reconciler, workload: Workload, token: string): Promise<Launch> {
  const { id, attempt, behaviour, userId, placement, deploymentId, serverKey, devices } = workload;
  return {
    workloadId: id,
    attempt,
    behaviour,
    userId,
    placement,
    nodes: 1,
    spec: await readSpecWithCheckpoint(parts.db, id),
    server: { base_url: await parts.serverUrl(), token },
    deploymentId: parts.routing?.routers.has(deploymentId ?? '') ? deploymentId : null,
    serverKey: serverKey ?? '',
    devices: devices ?? [],
  };
}

async function recordStart(parts: Reconciler, tx: Transaction, before: Workload, done: Done): Promise<void> {
  if (!done.ok) {
    const nothing = { lines: [], cursor: before.outputCursor };
    await writeStep(parts, tx, before, planUnstarted(before, done.cause), nothing);
    return;
  }
  // The attempt's first report may already have changed the state.
  const isNews = before.state === 'scheduling';
  const { serverUrl } = done;
  const state = parts.driver.admission === 'driver' ? 'queued' : 'starting';
  const workload = await updateWorkload(tx, before.id, { serverUrl, ...(isNews && { state }) });
  if (isNews) await announce(parts.kinds, tx, workload, before);
}
