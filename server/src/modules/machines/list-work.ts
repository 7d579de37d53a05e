import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { gpuLabel } from '@bakehouse/contract/labels';
import type { listWork as listWorkEndpoint, Work } from '@bakehouse/contract/machines';
import * as contract from '@bakehouse/contract/machines';
import type { WorkloadState } from '../../engine/model/workload.ts';
import { type ListedWorkload, listWorkloads } from '../../engine/queue/list-workloads.ts';
import type { Context } from '../../platform/context.ts';
import { type Binding, bind } from '../../platform/http/bind.ts';
import { findNames } from '../accounts/steps.ts';
import { describeServerWorkloads, type ServedWorkload } from '../deployments/servers/model-servers.ts';

/**
 * Maps engine states to the three states that operators see. States without an entry are not listed, e.g.
 * ended work.
 */
const states: Record<WorkloadState, Work['state']> = {
  queued: 'queued',
  scheduling: 'starting',
  pulling: 'starting',
  starting: 'starting',
  ready: 'running',
  degraded: 'degraded',
  stopping: 'stopping',
  completed: 'stopping',
  stopped: 'stopping',
  failed: 'stopping',
};

/** Machine routes that belong to modules, because the engine does not know who owns work. */
export const workRoutes: Binding[] = [bind(contract.listWork, listWork)];

/**
 * Returns running and queued work to an operator. The cursor is the number of entries already returned,
 * because the list changes between requests.
 */
async function listWork(
  { db, clock }: Context,
  { query }: InputOf<typeof listWorkEndpoint>,
): Promise<ResponseOf<typeof listWorkEndpoint>> {
  const workloads = await listWorkloads({ db, now: clock.now() });
  const start = Number(query.cursor ?? 0);
  const end = start + query.limit;
  const shown = workloads.slice(start, end);
  const served = await describeServerWorkloads(
    db,
    shown.filter(({ behaviour }) => behaviour === 'deployment').map(({ id }) => id),
  );
  const ownerOf = ({ id, userId }: ListedWorkload) => userId ?? served.get(id)?.ownerId ?? null;
  const usernames = await findNames(db, {
    userIds: [...new Set(shown.flatMap((one) => ownerOf(one) ?? []))],
    keyIds: [],
  });
  const waiting = workloads.filter(({ state }) => state === 'queued').length;
  return {
    work: shown.map((one) => {
      const userId = ownerOf(one) ?? '';
      const username = usernames.get(userId);
      const owner = username === undefined ? null : { user_id: userId, username };
      return { ...toWork(one, served.get(one.id)), owner };
    }),
    on_machines: workloads.length - waiting,
    waiting,
    next_cursor: end < workloads.length ? String(end) : null,
  };
}

function toWork(one: ListedWorkload, served: ServedWorkload | undefined): Omit<Work, 'owner'> {
  const { accelerator, count } = one.placement;
  return {
    work_id: one.id,
    kind: kindOf(one, served),
    model_name: served?.starterName ?? null,
    deployments: served?.deployments ?? 0,
    pod_id: served?.podId ?? null,
    machine: one.machineName,
    state: states[one.state],
    reason: one.reason,
    position: one.position,
    since: one.since.toISOString(),
    gpus: accelerator === null ? null : { gpu_type: accelerator, label: gpuLabel(accelerator), count },
  };
}

function kindOf({ spec }: ListedWorkload, served: ServedWorkload | undefined): Work['kind'] {
  if (spec.kind !== 'serve') return 'run';
  // Embedding models count as text models here.
  const isImage = served ? served.kind === 'image' : spec.engine === 'paris' || spec.engine === 'kontext';
  const makes = isImage ? 'image' : 'text';
  return served && served.starterName !== null ? `${makes}_model` : `${makes}_deployment`;
}
