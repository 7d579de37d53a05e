import { availableParallelism } from 'node:os';
import type { GpuType } from '@bakehouse/contract/limits';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Clock } from '../../platform/clock.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { findWorkload } from '../../engine/queries.ts';
import { requestWorkload } from '../../engine/request-workload.ts';
import { stopWorkload } from '../../engine/stop-workload.ts';
import type { Workload } from '../../engine/workload.ts';
import { endDeployment } from './end-deployment.ts';
import { planTextServer, type ServerWorkload } from './plan-text-server.ts';
import { type DeploymentRow, listLiveDeployments, lockTextServer, type TextServerRow } from './queries.ts';
import { type ServedAdapter, type ServedBase, textServerSpec } from './text-server-spec.ts';

export const TEXT_SERVER_KIND = 'text-server';

/**
 * Brings a text server to what its deployments need: starts, replaces or stops its workloads. A step:
 * whoever changes a deployment calls it last in the same transaction, and a job calls it when a
 * workload of the server has changed.
 */
export async function reconcileTextServer(tx: Transaction, clock: Clock, serverId: string): Promise<void> {
  const server = await lockTextServer(tx, serverId);
  const current = server.workload_id ? await findWorkload(tx, server.workload_id) : null;
  const next = server.next_workload_id ? await findWorkload(tx, server.next_workload_id) : null;
  const now = clock.now();

  const live = await failTheUnservable(tx, now, await listLiveDeployments(tx, serverId), current, next);
  const starterFailed = current?.state === 'failed';
  const actions = planTextServer({
    current: current && viewOf(current),
    next: next && viewOf(next),
    wantedAdapters: adaptersOf(live).map((adapter) => adapter.revisionId),
    wanted: live.some((deployment) => !deployment.sleeping) || (server.starter_requested_at !== null && !starterFailed),
  });

  const ids = { workload_id: server.workload_id, next_workload_id: server.next_workload_id };
  for (const action of actions) {
    switch (action.type) {
      case 'stop':
        await stopWorkload(tx, { id: action.workloadId, reason: 'Nobody needs it any more', now });
        break;
      case 'start': {
        const adapters = adaptersOf(live).filter((adapter) => action.adapters.includes(adapter.revisionId));
        const id = await startWorkload(tx, now, server, adapters);
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
  await tx
    .updateTable('text_servers')
    .set({ ...ids, ...(starterFailed && { starter_requested_at: null }) })
    .where('id', '=', serverId)
    .execute();
  await noteCarrier(tx, now, live, ids.workload_id);
}

/** Deployments whose workload has failed for good end with its reason; the others are returned. */
async function failTheUnservable(
  tx: Transaction,
  now: Date,
  live: DeploymentRow[],
  current: Workload | null,
  next: Workload | null,
): Promise<DeploymentRow[]> {
  const failed = [current, next].find((workload) => workload?.state === 'failed');
  if (!failed) return live;
  const servable: DeploymentRow[] = [];
  for (const deployment of live) {
    // What the current workload carries goes on when only its replacement failed.
    const carried = failed !== current && current !== null && carries(current, deployment);
    if (carried || !carries(failed, deployment)) servable.push(deployment);
    else await endDeployment(tx, now, deployment, { failed: true, reason: failed.reason });
  }
  return servable;
}

/** Tells the deployments which workload answers for them, and that it does. */
async function noteCarrier(
  tx: Transaction,
  now: Date,
  live: DeploymentRow[],
  workloadId: string | null,
): Promise<void> {
  const workload = workloadId ? await findWorkload(tx, workloadId) : null;
  for (const deployment of live) {
    const answers = workload?.state === 'ready' && carries(workload, deployment) && !deployment.sleeping;
    if (answers) {
      await tx
        .updateTable('deployments')
        .set({
          carrier_id: workload.id,
          ready_at: deployment.ready_at ?? now,
          metered_at: deployment.metered_at ?? now,
        })
        .where('id', '=', deployment.id)
        .execute();
    }
    await publishChange(tx, deployment.user_id, { topic: 'deployment', id: deployment.id });
  }
}

function viewOf(workload: Workload): ServerWorkload {
  const ended = workload.endedAt !== null || workload.wanted === 'stopped';
  const state = ended ? 'ended' : workload.state === 'ready' || workload.state === 'degraded' ? 'ready' : 'coming';
  return { id: workload.id, state, adapters: adapterNames(workload) };
}

/** The adapters of a text server's workload, in the order in which its engine counts them. */
export function adapterNames(workload: Pick<Workload, 'spec'>): string[] {
  return workload.spec.kind === 'serve' ? workload.spec.adapters.map((adapter) => adapter.name) : [];
}

/** Whether the workload can answer for the deployment. */
export function carries(
  workload: Pick<Workload, 'spec'>,
  deployment: Pick<DeploymentRow, 'adapter_file' | 'revision_id'>,
): boolean {
  return deployment.adapter_file === null || adapterNames(workload).includes(deployment.revision_id);
}

/** Each adapter once, however many deployments share it. */
function adaptersOf(live: DeploymentRow[]): ServedAdapter[] {
  const adapters = new Map<string, ServedAdapter>();
  for (const { revision_id, adapter_file, adapter_files, adapter_rank } of live) {
    if (adapter_file === null || adapter_rank === null) continue;
    adapters.set(revision_id, {
      revisionId: revision_id,
      file: adapter_file,
      files: adapter_files as InputFile[],
      rank: adapter_rank,
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
  const base = { engine: server.engine as ServedBase['engine'], files: server.base_files as InputFile[], modelFile: server.model_file };
  return requestWorkload(tx, {
    userId: null,
    behaviour: 'deployment',
    kind: TEXT_SERVER_KIND,
    title: server.starter_name ?? 'Text model server',
    spec: textServerSpec(base, adapters, availableParallelism()),
    placement: server.accelerator
      ? { accelerator: server.accelerator as GpuType, count: server.accelerator_count }
      : { accelerator: null, count: 0 },
    now,
  });
}
