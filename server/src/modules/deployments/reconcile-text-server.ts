import { availableParallelism } from 'node:os';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import { findWorkloadWithSpec } from '../../engine/queries.ts';
import { requestWorkload } from '../../engine/request-workload.ts';
import { stopWorkload } from '../../engine/stop-workload.ts';
import { hasEnded, type WorkloadWithSpec } from '../../engine/workload.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { chooseAdapters, type WantedAdapter } from './choose-adapters.ts';
import { type Concerned, type Judgement, judgeFailure } from './judge-failure.ts';
import { settleTime } from './meter-deployment.ts';
import { planTextServer, type ServerWorkload } from './plan-text-server.ts';
import {
  type DeploymentRow,
  listLiveDeployments,
  lockTextServer,
  noteAsleep,
  noteCarrier,
  noteEnd,
  setStarterRequested,
  setWorkloads,
  type TextServerRow,
} from './queries.ts';
import { type ServedAdapter, type ServedBase, textServerSpec } from './text-server-spec.ts';
import { announceTextServer } from './watch-text-server.ts';

export const TEXT_SERVER_KIND = 'text-server';

/**
 * Brings a text server to what its deployments need: starts, replaces or stops its workloads, and
 * ends deployments that cannot be served, or puts them to sleep. A step: whoever changes a deployment calls it after that
 * change and before any move of credits; a job calls it when a workload of the server has changed.
 */
export async function reconcileTextServer(tx: Transaction, clock: Clock, serverId: string): Promise<void> {
  const server = await lockTextServer(tx, serverId);
  const current = server.workload_id ? await findWorkloadWithSpec(tx, server.workload_id) : null;
  const next = server.next_workload_id ? await findWorkloadWithSpec(tx, server.next_workload_id) : null;
  const now = clock.now();

  const all = await listLiveDeployments(tx, serverId);
  const failure = [next, current].find((workload) => workload?.state === 'failed') ?? null;
  const judgement = judge(all, { failure, current, cautious: server.cautious });
  const { cautious } = judgement;
  const doomed = judgement.doomed.map(({ row }) => row);
  const resting = judgement.resting.map(({ row }) => row);
  if (failure) await noteFailure(tx, { doomed, resting }, failure, now);
  const struck = [...doomed, ...resting];
  const live = all.filter((deployment) => !struck.includes(deployment));

  const starterWanted = server.starter_requested_at !== null && !judgement.serverFailed;
  if (!starterWanted && server.starter_requested_at) await setStarterRequested(tx, serverId, null);
  // One that sleeps costs nothing, and takes no memory either: its adapter is loaded when it wakes.
  const awake = live.filter((deployment) => !deployment.sleeping);
  // What answers by now is proven, although its deployment is marked so only below: the next adapter is tried at once.
  const answering = [current, next].filter((workload) => workload?.state === 'ready');
  const adapters = adaptersOf(awake).map((adapter) => ({
    ...adapter,
    proven: adapter.proven || answering.some((one) => one && adapterNames(one).includes(adapter.revisionId)),
  }));
  const untried = adapters.some((adapter) => !adapter.proven);
  const actions = planTextServer({
    current: current && viewOf(current, now),
    next: next && viewOf(next, now),
    wantedAdapters: chooseAdapters(adapters, cautious),
    wanted: starterWanted || live.some((deployment) => !deployment.sleeping),
  });

  const ids = { workload_id: server.workload_id, next_workload_id: server.next_workload_id };
  for (const action of actions) {
    switch (action.type) {
      case 'stop':
        await stopWorkload(tx, { id: action.workloadId, reason: 'Nobody needs it any more', now });
        break;
      case 'start': {
        const chosen = adapters.filter((adapter) => action.adapters.includes(adapter.revisionId));
        const id = await startWorkload(tx, now, server, chosen);
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
  await setWorkloads(tx, serverId, { ...ids, cautious: cautious && untried });

  const carrier = ids.workload_id ? await findWorkloadWithSpec(tx, ids.workload_id) : null;
  const served = carrier?.state === 'ready' ? live.filter((row) => isNewTo(row, carrier)) : [];
  if (carrier)
    await noteCarrier(
      tx,
      served.map(({ id }) => id),
      { workloadId: carrier.id, now },
    );
  // Only what has changed is announced: this comes by every minute.
  const acted = actions.length > 0 || failure !== null;
  for (const { id, user_id } of acted ? all : served) {
    await publishChange(tx, user_id, { topic: 'deployment', id });
  }
  if (acted) await announceTextServer(tx, serverId);
  // The ledger last, and its accounts in one order.
  for (const deployment of struck.toSorted(byUser)) await settleTime(tx, now, deployment);
}

/** The workload answers for the deployment, which does not say so yet. */
function isNewTo(row: DeploymentRow, carrier: WorkloadWithSpec): boolean {
  const isNoted = row.carrier_id === carrier.id && row.ready_at !== null;
  const isMetered = row.sleeping || row.metered_at !== null;
  return carries(carrier, row) && !(isNoted && isMetered);
}

/** What a failed start means for the live deployments. */
function judge(
  live: DeploymentRow[],
  server: { failure: WorkloadWithSpec | null; current: WorkloadWithSpec | null; cautious: boolean },
): Judgement<Concerned & { row: DeploymentRow }> {
  const { failure, current, cautious } = server;
  const isUp = current?.state === 'ready' || current?.state === 'degraded';
  const concerned = live.map((row) => ({
    row,
    revisionId: row.revision_id,
    proven: row.ready_at !== null,
    failed: failure !== null && carries(failure, row),
    served: isUp && carries(current, row),
  }));
  return judgeFailure(concerned, failure && { adapters: adapterNames(failure) }, {
    adapters: adaptersOf(live),
    isUp,
    cautious,
  });
}

async function noteFailure(
  tx: Transaction,
  { doomed, resting }: { doomed: DeploymentRow[]; resting: DeploymentRow[] },
  failure: WorkloadWithSpec,
  now: Date,
): Promise<void> {
  const end = { now, failed: true, reason: failure.reason, carrierId: failure.id };
  for (const { id } of doomed) await noteEnd(tx, id, end);
  const reason = `Asleep: its model server could not start (${failure.reason}). The next request tries again.`;
  for (const { id } of resting) await noteAsleep(tx, id, reason);
}

function byUser(a: DeploymentRow, b: DeploymentRow): number {
  return a.user_id < b.user_id ? -1 : a.user_id > b.user_id ? 1 : 0;
}

function viewOf(workload: WorkloadWithSpec, now: Date): ServerWorkload {
  return { id: workload.id, state: viewedState(workload, now), adapters: adapterNames(workload) };
}

function viewedState(workload: WorkloadWithSpec, now: Date): ServerWorkload['state'] {
  if (hasEnded(workload) || workload.wanted === 'stopped') return 'ended';
  if (workload.state === 'ready' || workload.state === 'degraded') return 'ready';
  // The queue gives a reason to those that it has passed over; one that rests after a failure has one too.
  const passedOver = workload.state === 'queued' && workload.reason !== '' && workload.notBefore <= now;
  return passedOver ? 'waiting' : 'coming';
}

/** The adapters of a text server's workload, in the order in which its engine counts them. */
export function adapterNames(workload: Pick<WorkloadWithSpec, 'spec'>): string[] {
  return workload.spec.kind === 'serve' ? workload.spec.adapters.map((adapter) => adapter.name) : [];
}

/** Whether the workload can answer for the deployment. */
export function carries(
  workload: Pick<WorkloadWithSpec, 'spec'>,
  deployment: Pick<DeploymentRow, 'adapter_file' | 'revision_id'>,
): boolean {
  return deployment.adapter_file === null || adapterNames(workload).includes(deployment.revision_id);
}

/** Each adapter once, however many deployments share it. */
function adaptersOf(live: DeploymentRow[]): (ServedAdapter & WantedAdapter)[] {
  const adapters = new Map<string, ServedAdapter & WantedAdapter>();
  for (const { revision_id, adapter_file, adapter_files, adapter_rank, ready_at } of live) {
    if (adapter_file === null || adapter_rank === null) continue;
    const proven = ready_at !== null || adapters.get(revision_id)?.proven === true;
    adapters.set(revision_id, {
      revisionId: revision_id,
      file: adapter_file,
      files: adapter_files as InputFile[],
      rank: adapter_rank,
      proven,
    });
  }
  return [...adapters.values()];
}

async function startWorkload(
  tx: Transaction,
  now: Date,
  server: TextServerRow,
  adapters: ServedAdapter[],
): Promise<string> {
  const base = {
    engine: server.engine as ServedBase['engine'],
    files: server.base_files as InputFile[],
    modelFile: server.model_file,
  };
  return requestWorkload(tx, {
    userId: null,
    behaviour: 'deployment',
    kind: TEXT_SERVER_KIND,
    title: server.starter_name ?? 'Text model server',
    spec: textServerSpec(base, adapters, {
      threads: availableParallelism(),
      gpus: server.accelerator_count,
    }),
    placement: server.accelerator
      ? { accelerator: server.accelerator, count: server.accelerator_count }
      : { accelerator: null, count: 0 },
    now,
  });
}
