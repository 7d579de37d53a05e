import type { Config } from '../../../../config.ts';
import { hasEnded, type WorkloadWithSpec } from '../../../../engine/model/workload.ts';
import { invalidParam } from '../../../../platform/errors.ts';
import { REQUEST_MS_MAX } from '../../../serving/ask/request-deadline.ts';
import type { ServedAdapter } from '../../../serving/served-model.ts';
import type { DeploymentRow } from '../../queries.ts';

/**
 * A replaced server may take as long as the longest request to finish its answers, so that another user's
 * adapter never cuts an answer off.
 */
const REPLACED_S = REQUEST_MS_MAX / 1000;

/**
 * Less time if a server must free its slot for its successor: nothing is served until then, and requests wait
 * ten minutes at most.
 */
const MAKES_ROOM_S = 300;

/** A workload of a model server, as the plan sees it. */
export type ServerWorkload = {
  id: string;
  /** `waiting`: there is no free slot for the workload. `ended` includes workloads that are stopping. */
  state: 'waiting' | 'coming' | 'ready' | 'ended';
  /** The adapters that the workload has loaded, by their revision ids. */
  adapters: string[];
};

export type ModelServerView = {
  /** The workload that serves now, or the first workload, which is starting. */
  current: ServerWorkload | null;
  /** The successor, which is starting with other adapters. */
  next: ServerWorkload | null;
  /** The adapters that must be served. A new workload starts with exactly these. */
  wantedAdapters: string[];
  /** True if an awake deployment needs the server, or if its base was used recently. */
  wanted: boolean;
};

export type ModelServerAction =
  /**
   * `drainSeconds` is the time to finish running answers. 0 means only the few seconds that every stop has.
   */
  | { type: 'stop'; workloadId: string; drainSeconds: number }
  | { type: 'start'; as: 'current' | 'next' }
  | { type: 'promote'; workloadId: string }
  | { type: 'forget'; which: 'current' | 'next' };

/**
 * Decides what a model server needs next. The caller reads the rows and carries out the actions in one
 * transaction.
 */
export function planModelServer(view: ModelServerView): ModelServerAction[] {
  const { current, next, wantedAdapters, wanted } = view;
  const carriesAll = (workload: ServerWorkload) =>
    wantedAdapters.every((key) => workload.adapters.includes(key));
  const lives = (workload: ServerWorkload | null) => workload !== null && workload.state !== 'ended';
  const stop = (workload: ServerWorkload | null, answersWithinS = 0): ModelServerAction[] => {
    if (!workload || !lives(workload)) return [];
    const drainSeconds = workload.state === 'ready' ? answersWithinS : 0;
    return [{ type: 'stop', workloadId: workload.id, drainSeconds }];
  };

  if (!wanted) {
    return [
      ...stop(current),
      ...removeWorkload('current', current),
      ...stop(next),
      ...removeWorkload('next', next),
    ];
  }
  // Send requests to the successor first. Then the old workload finishes its answers.
  if (next?.state === 'ready') {
    const successor: ModelServerAction = { type: 'start', as: 'next' };
    return [
      { type: 'promote', workloadId: next.id },
      ...stop(current, REPLACED_S),
      ...(carriesAll(next) ? [] : [successor]),
    ];
  }

  const coming = lives(next) ? next : null;
  if (!current || !lives(current)) {
    // A successor is starting, and takes over when it is ready.
    if (coming && carriesAll(coming)) return [];
    return [...stop(next), ...removeWorkload('next', next), { type: 'start', as: 'current' }];
  }
  // Adapters that are no longer needed are harmless. vLLM unloads them; llama.cpp keeps them until it is replaced.
  if (carriesAll(current)) return [...stop(next), ...removeWorkload('next', next)];
  if (!coming || !carriesAll(coming)) {
    return [...stop(next), { type: 'start', as: 'next' }];
  }
  // There is no slot for both, so stop the old workload first. The model is unavailable until its successor
  // is ready.
  return coming.state === 'waiting' ? stop(current, MAKES_ROOM_S) : [];
}

function removeWorkload(which: 'current' | 'next', workload: ServerWorkload | null): ModelServerAction[] {
  return workload ? [{ type: 'forget', which }] : [];
}

type Replicas = { auto_scale: boolean; min_replicas: number; max_replicas: number };

/** Throws AppError 'invalid_request' with the field if the replica settings contradict each other. */
export function checkReplicas({ auto_scale, min_replicas, max_replicas }: Replicas): void {
  if (!auto_scale && max_replicas !== 1)
    throw invalidParam('max_replicas', 'max_replicas must be 1 unless auto_scale is true');
  if (!auto_scale && min_replicas !== 1)
    throw invalidParam('min_replicas', 'min_replicas must be 1 unless auto_scale is true');
  if (min_replicas > max_replicas)
    throw invalidParam('min_replicas', 'min_replicas must be at most max_replicas');
}

/** True if the owner wants at least one replica to be awake at all times. */
export function neverSleeps({
  auto_scale,
  min_replicas,
}: Pick<DeploymentRow, 'auto_scale' | 'min_replicas'>) {
  return auto_scale && min_replicas > 0;
}

/** Returns the minutes without a request after which a deployment sleeps; null if it never does. */
export function sleepsAfterMinutes(
  { idleMinutes }: Pick<Config, 'idleMinutes'>,
  deployment: Pick<DeploymentRow, 'auto_scale' | 'min_replicas'>,
): number | null {
  return idleMinutes > 0 && !neverSleeps(deployment) ? idleMinutes : null;
}

/**
 * Returns a workload as the plan sees it. Wanted adapters that it can load while it runs count as loaded,
 * because the responses to its reports will name them.
 */
export function viewWorkload(
  workload: WorkloadWithSpec,
  now: Date,
  wanted: Pick<ServedAdapter, 'revisionId' | 'rank'>[],
): ServerWorkload {
  const rankMax = 'lora_rank' in workload.spec ? workload.spec.lora_rank : 0;
  const loadable = wanted.filter(({ rank }) => rank <= rankMax).map(({ revisionId }) => revisionId);
  return {
    id: workload.id,
    state: viewedState(workload, now),
    adapters: [...new Set([...adapterNames(workload), ...loadable])],
  };
}

function viewedState(workload: WorkloadWithSpec, now: Date): ServerWorkload['state'] {
  if (hasEnded(workload) || workload.wanted === 'stopped') return 'ended';
  if (workload.state === 'ready' || workload.state === 'degraded') return 'ready';
  // The queue sets a reason on a workload for which it has found no slot. A workload that pauses after a
  // failure also has a reason, but may not start yet.
  const passedOver = workload.state === 'queued' && workload.reason !== '' && workload.notBefore <= now;
  return passedOver ? 'waiting' : 'coming';
}

/** Returns the adapters of a model server's workload in the order of the engine's indexes. */
export function adapterNames(workload: Pick<WorkloadWithSpec, 'spec'>): string[] {
  return 'adapters' in workload.spec ? workload.spec.adapters.map((adapter) => adapter.name) : [];
}

/** True if the workload can serve the deployment. */
export function carries(
  workload: Pick<WorkloadWithSpec, 'spec'>,
  deployment: Pick<DeploymentRow, 'adapter' | 'revision_id'>,
): boolean {
  return deployment.adapter === null || adapterNames(workload).includes(deployment.revision_id);
}
