import { dropAdapter } from '../../../engine/grant-input.ts';
import type { WorkloadState, WorkloadWithSpec } from '../../../engine/model/workload.ts';
import { stopWorkload } from '../../../engine/request-workload.ts';
import { findWorkloadWithSpec, lockWorkload } from '../../../engine/workloads.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { notify } from '../../notifications/notifications.ts';
import { countTime } from '../metering/meter-deployment.ts';
import {
  type DeploymentRow,
  findRow,
  recordAsleep,
  recordCarrier,
  recordDroppedReplica,
  setDeploymentEnded,
} from '../queries.ts';
import {
  adapterNames,
  carries,
  type ModelServerAction,
  neverSleeps,
  planModelServer,
  viewWorkload,
} from './plan/plan-model-server.ts';
import {
  deleteReplicasOfEnded,
  listDeploymentsOfServer,
  lockModelServers,
  type ModelServerRow,
  setFailedStarts,
  setStarterRequested,
  setWorkloads,
} from './server-queries.ts';
import { adaptersOf, type Retry, startServerWorkload } from './start-server-workload.ts';
import { announceModelServer } from './watch-model-server.ts';

const STUCK: WorkloadState[] = ['queued', 'failed'];
const FIRST_PAUSE_S = 5;
const LONGEST_PAUSE_S = 300;

/**
 * Step: brings a model server and its replicas in line with their deployments. Starts, replaces or stops
 * workloads. Deployments that cannot be served end or fall asleep; `settleAllStopped` charges their time
 * later, because this transaction notifies other processes. Call it after changing a deployment, and before
 * moving credits. A job calls it when a workload of the server has changed.
 */
export async function reconcileModelServer(
  tx: Transaction,
  clock: Clock,
  serverId: string,
  failedAdapter?: FailedAdapter,
): Promise<void> {
  const now = clock.now();
  const locked = await lockModelServers(tx, serverId);
  // Sort by id, because all transactions lock workloads in this order. The order of replicas may change.
  const workloadIds = locked.flatMap(({ workload_id, next_workload_id }) => [workload_id, next_workload_id]);
  for (const id of workloadIds.filter((one) => one !== null).toSorted()) await lockWorkload(tx, id);
  const servers = await reorderReadyReplicas(tx, locked);
  for (const server of servers) await reconcileOne(tx, now, server, failedAdapter);
  const owner = servers[0]?.deployment_id;
  if (owner) {
    await countTime(tx, now, await findRow(tx, owner));
    await deleteReplicasOfEnded(tx, owner);
  }
}

/** An adapter that a running server could not load, and the reason. */
export type FailedAdapter = { revisionId: string; reason: string };

async function reconcileOne(
  tx: Transaction,
  now: Date,
  server: ModelServerRow,
  failedAdapter?: FailedAdapter,
): Promise<void> {
  const seen = await readState(tx, server);
  const { current, next } = seen;
  const all = await listDeploymentsOfServer(tx, server.id);
  const failed = [next, current].find((workload) => workload?.state === 'failed') ?? null;
  const up = current?.state === 'ready' || current?.state === 'degraded' ? current : null;
  const dropped = server.replica > 1 && (await dropReplica(tx, now, server, all, current));
  const failure =
    failedAdapter && up ? failureOfAdapter(up, failedAdapter) : failed && failureOfStart(failed, up);
  const failedDeployments = failure && server.replica === 1 ? await applyFailure(tx, now, all, failure) : [];
  const live = all.filter((deployment) => !failedDeployments.includes(deployment));
  if (current && server.engine === 'vllm' && server.deployment_id === null) {
    for (const name of adapterNames(current))
      if (!live.some((row) => row.revision_id === name)) await dropAdapter(tx, current.id, name);
  }

  const starterWanted = server.starter_requested_at !== null && (failed === null || up !== null);
  if (!starterWanted && server.starter_requested_at) await setStarterRequested(tx, server.id, null);
  // A sleeping deployment needs no memory: its adapter is loaded when it wakes.
  const awake = live.filter((row) => !row.sleeping && server.replica <= row.replicas && !dropped);
  const adapters = adaptersOf(awake);
  const retry = await recordStarts(tx, now, server, { failed, up, awake: awake.length > 0 });
  const actions = planModelServer({
    current: current && viewWorkload(current, now, adapters),
    next: next && viewWorkload(next, now, adapters),
    wantedAdapters: adapters.map(({ revisionId }) => revisionId),
    wanted: starterWanted || awake.length > 0,
  });
  const userId = server.deployment_id === null ? null : (all[0]?.user_id ?? null);
  const carrierId = await act(tx, now, server, actions, { adapters, userId, retry });

  const served = await recordServedDeployments(tx, now, server, live, carrierId);
  // Notify only if something has changed, because this runs every minute.
  const acted = actions.length > 0 || failed !== null || failedAdapter !== undefined;
  for (const { id, user_id } of acted ? all : served) {
    await publishChange(tx, user_id, { topic: 'deployment', id });
  }
  if (acted) await announceModelServer(tx, server.id);
}

async function readState(tx: Transaction, { workload_id, next_workload_id }: ModelServerRow) {
  return {
    current: workload_id ? await findWorkloadWithSpec(tx, workload_id) : null,
    next: next_workload_id ? await findWorkloadWithSpec(tx, next_workload_id) : null,
  };
}

/**
 * Counts failed starts, and returns when to retry for deployments that never sleep. The pause grows
 * exponentially until a start succeeds. Null if no start has just failed.
 */
async function recordStarts(
  tx: Transaction,
  now: Date,
  { id, failed_starts: before }: ModelServerRow,
  { failed, up, awake }: { failed: WorkloadWithSpec | null; up: WorkloadWithSpec | null; awake: boolean },
): Promise<Retry | null> {
  const failedStarts = failed && awake ? before + 1 : up ? 0 : before;
  if (failedStarts !== before) await setFailedStarts(tx, id, failedStarts);
  if (!failed || !awake) return null;
  const seconds = retryPause(failedStarts);
  return {
    notBefore: new Date(now.getTime() + seconds * 1000),
    reason: `Its model server could not start (${failed.reason}). Trying again in ${seconds} s.`,
  };
}

/** Drops the last replica if there was no slot for it or it failed to start. Keeps the requested minimum. */
async function dropReplica(
  tx: Transaction,
  now: Date,
  { replica }: ModelServerRow,
  [owner]: DeploymentRow[],
  workload: WorkloadWithSpec | null,
): Promise<boolean> {
  if (!owner || !workload || replica <= owner.min_replicas || replica !== owner.replicas) return false;
  const isStuck = workload.state === 'failed' || viewWorkload(workload, now, []).state === 'waiting';
  if (isStuck) await recordDroppedReplica(tx, owner.id, { replicas: replica - 1, now });
  return isStuck;
}

/** Carries out the plan. Returns the workload that serves now or will serve next. */
async function act(
  tx: Transaction,
  now: Date,
  server: ModelServerRow,
  actions: ModelServerAction[],
  load: Parameters<typeof startServerWorkload>[3],
): Promise<string | null> {
  const ids = { workload_id: server.workload_id, next_workload_id: server.next_workload_id };
  for (const action of actions) {
    switch (action.type) {
      case 'stop': {
        const { workloadId: id, drainSeconds } = action;
        await stopWorkload(tx, { id, reason: 'It is no longer needed', drainSeconds, now });
        break;
      }
      case 'start': {
        const id = await startServerWorkload(tx, now, server, load);
        if (action.as === 'current') ids.workload_id = id;
        else ids.next_workload_id = id;
        break;
      }
      case 'promote':
        ids.workload_id = action.workloadId;
        ids.next_workload_id = null;
        break;
      case 'forget':
        if (action.which === 'current') ids.workload_id = null;
        else ids.next_workload_id = null;
    }
  }
  await setWorkloads(tx, server.id, ids);
  return ids.workload_id;
}

/**
 * Records the deployments that the workload has begun to serve. Of several replicas, only the first counts.
 */
async function recordServedDeployments(
  tx: Transaction,
  now: Date,
  { replica }: ModelServerRow,
  live: DeploymentRow[],
  carrierId: string | null,
): Promise<DeploymentRow[]> {
  const carrier = carrierId ? await findWorkloadWithSpec(tx, carrierId) : null;
  if (carrier?.state !== 'ready' || replica > 1) return [];
  const served = live.filter((row) => isNewTo(row, carrier));
  await recordCarrier(
    tx,
    served.map(({ id }) => id),
    { workloadId: carrier.id, now },
  );
  const firstServed = served.filter(({ ready_at }) => ready_at === null);
  await notify(
    tx,
    ...firstServed.map((row) => ({
      userId: row.user_id,
      kind: 'deployment_ready' as const,
      data: { pod_id: row.id, title: row.title },
    })),
  );
  return served;
}

/** True if the workload serves the deployment, but the deployment's row does not show it yet. */
function isNewTo(row: DeploymentRow, carrier: WorkloadWithSpec): boolean {
  const isNoted = row.carrier_id === carrier.id && row.ready_at !== null;
  const isMetered = row.sleeping || row.metered_at !== null;
  return carries(carrier, row) && !(isNoted && isMetered);
}

/** Returns the pause in seconds after this many consecutive failed starts. */
function retryPause(failedStarts: number): number {
  return Math.min(FIRST_PAUSE_S * 2 ** (failedStarts - 1), LONGEST_PAUSE_S);
}

/**
 * Step: sorts a deployment's ready replicas before those that have failed or are waiting. Replicas are
 * interchangeable, and the last one is dropped first. A broken replica is therefore dropped without affecting
 * the others. Returns the updated rows.
 */
async function reorderReadyReplicas(tx: Transaction, replicas: ModelServerRow[]): Promise<ModelServerRow[]> {
  if (replicas.length === 1) return replicas;
  const rows = [...replicas];
  const workloads: (WorkloadWithSpec | null)[] = [];
  for (const { workload_id: id } of rows) workloads.push(id ? await findWorkloadWithSpec(tx, id) : null);
  const isStuck = (at: number) => STUCK.some((state) => state === workloads[at]?.state);
  for (const at of rows.keys()) {
    const ready = workloads.findLastIndex((one) => one?.state === 'ready');
    if (!isStuck(at) || ready <= at) continue;
    await exchange(tx, rows, at, ready);
    [workloads[at], workloads[ready]] = [workloads[ready] ?? null, workloads[at] ?? null];
  }
  return rows;
}

async function exchange(tx: Transaction, rows: ModelServerRow[], a: number, b: number): Promise<void> {
  const [one, other] = [rows[a], rows[b]];
  if (!one || !other) return;
  rows[a] = { ...one, workload_id: other.workload_id, next_workload_id: other.next_workload_id };
  rows[b] = { ...other, workload_id: one.workload_id, next_workload_id: one.next_workload_id };
  for (const { id, workload_id, next_workload_id } of [rows[a], rows[b]])
    await setWorkloads(tx, id, { workload_id, next_workload_id });
}

type Failure = Pick<WorkloadWithSpec, 'id' | 'reason'> & {
  /** Returns true if the failure affects this deployment. */
  concerns: (row: DeploymentRow) => boolean;
  /** Returns true if another workload still serves this deployment. */
  isServed: (row: DeploymentRow) => boolean;
};

function failureOfStart({ id, reason, spec }: WorkloadWithSpec, up: WorkloadWithSpec | null): Failure {
  return {
    ...{ id, reason },
    concerns: (row) => carries({ spec }, row),
    isServed: (row) => up !== null && carries(up, row),
  };
}

function failureOfAdapter(up: WorkloadWithSpec, { revisionId, reason }: FailedAdapter): Failure {
  return {
    ...{ id: up.id, reason },
    concerns: (row) => row.adapter !== null && row.revision_id === revisionId,
    isServed: (row) => carries(up, row),
  };
}

/**
 * Step: ends the deployments that nothing serves after the failure, or puts them to sleep. Returns them.
 * Leaves deployments that never sleep unchanged.
 */
async function applyFailure(
  tx: Transaction,
  now: Date,
  live: DeploymentRow[],
  failure: Failure,
): Promise<DeploymentRow[]> {
  const { ended, asleep } = planStartFailure(
    live.map((row) => ({
      row,
      proven: row.ready_at !== null,
      neverSleeps: neverSleeps(row),
      failed: failure.concerns(row),
      served: failure.isServed(row),
    })),
  );
  const end = { now, failed: true, reason: failure.reason, carrierId: failure.id };
  for (const { row } of [...ended, ...asleep]) await countTime(tx, now, row);
  for (const { row } of ended) await setDeploymentEnded(tx, row.id, end);
  await notify(
    tx,
    ...ended.map(({ row }) => ({
      userId: row.user_id,
      kind: 'deployment_failed' as const,
      data: { pod_id: row.id, title: row.title },
    })),
  );
  const reason = `Asleep: its model server could not start (${failure.reason}). The next request tries again.`;
  for (const { row } of asleep) await recordAsleep(tx, row.id, reason);
  return [...ended, ...asleep].map(({ row }) => row);
}

/** A live deployment, with what decides how a failed start affects it. */
type Concerned = {
  /** True if it has served before. */
  proven: boolean;
  /** True if it never sleeps. */
  neverSleeps: boolean;
  /** True if the failed workload was meant to serve it. */
  failed: boolean;
  /** True if another running workload serves it. */
  served: boolean;
};

/**
 * Decides what happens to deployments that nothing serves after a failed start. If a deployment has never
 * served, it ends. If it has served before, it falls asleep, and its next request starts another attempt. If
 * it never sleeps, it waits for the next attempt.
 */
export function planStartFailure<D extends Concerned>(live: D[]): { ended: D[]; asleep: D[]; waiting: D[] } {
  const unserved = live.filter((one) => one.failed && !one.served);
  const proven = unserved.filter((one) => one.proven);
  return {
    ended: unserved.filter((one) => !one.proven),
    asleep: proven.filter((one) => !one.neverSleeps),
    waiting: proven.filter((one) => one.neverSleeps),
  };
}
