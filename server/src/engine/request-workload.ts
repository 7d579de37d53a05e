import { type Transaction, toJson } from '../platform/db/database.ts';
import { conflict } from '../platform/errors.ts';
import { insertInputs } from './files/file-queries.ts';
import {
  type Behaviour,
  hasEnded,
  type Outcome,
  type Placement,
  type Workload,
  type WorkloadSpec,
} from './model/workload.ts';
import { updateWorkload, wakeEngines } from './queries.ts';
import { lockWorkload, secondsSaved } from './workloads.ts';

/** `notBefore` of a workload that may not start before `releaseWorkload`. */
export const UNTIL_RELEASED = new Date('9999-01-01');

export type WorkloadRequest = {
  /** The user whose share of the queue the workload uses; null if it serves all users. */
  userId: string | null;
  behaviour: Behaviour;
  /** Name of the registered kind that handles it. */
  kind: string;
  /** The deployment that this model server exclusively serves; null if shared, or not a model server. */
  deploymentId?: string | null;
  /** Name chosen by its owner. */
  title: string;
  spec: WorkloadSpec;
  placement: Placement;
  /** The duration quoted to the user, for the workload's kind. The queue uses the observed pace. */
  expectedSeconds?: number;
  now: Date;
  /** Earliest start; `reason` explains the wait. */
  notBefore?: Date;
  reason?: string;
};

/** Transaction step: requests a workload, which is queued when the transaction commits. Returns its id. */
export async function requestWorkload(tx: Transaction, request: WorkloadRequest): Promise<string> {
  const { now } = request;
  const { id } = await tx
    .insertInto('workloads')
    .values({
      user_id: request.userId,
      behaviour: request.behaviour,
      kind: request.kind,
      deployment_id: request.deploymentId ?? null,
      title: request.title,
      spec: toJson(request.spec),
      accelerator: request.placement.accelerator,
      accelerator_count: request.placement.count,
      expected_seconds: request.expectedSeconds ?? null,
      check_at: now,
      created_at: now,
      queued_at: now,
      not_before: request.notBefore ?? now,
      reason: request.reason ?? '',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await insertInputs(tx, id);
  await wakeEngines(tx);
  return id;
}

/**
 * Transaction step: resumes an ended workload from its files, under the same id. Throws AppError('conflict')
 * unless it was stopped or failed and its files still exist.
 */
export async function resumeWorkload(
  tx: Transaction,
  { id, now }: { id: string; now: Date },
): Promise<Workload> {
  const workload = await lockWorkload(tx, id);
  if (workload?.state !== 'stopped' && workload?.state !== 'failed') {
    throw conflict('Only what was cancelled or has failed can be resumed');
  }
  if (workload.filesRemovedAt) {
    throw conflict('Its work was kept for seven days, and is gone now');
  }
  const savedSeconds = secondsSaved(workload);
  await wakeEngines(tx);
  return updateWorkload(tx, id, {
    wanted: 'running',
    state: 'queued',
    reason: '',
    outcome: null,
    // Rejects reports of the previous attempt.
    tokenSha256: null,
    failures: 0,
    activeSeconds: savedSeconds,
    savedSeconds,
    stopRequestedAt: null,
    stopReason: null,
    endedAt: null,
    queuedAt: now,
    notBefore: now,
    checkAt: now,
  });
}

/**
 * Transaction step: stops a workload. A running one saves its work and exits; a waiting one ends immediately.
 * A model server has `drainSeconds` to finish open requests (by default only its grace period). Returns true
 * if this call stops it; false if it has ended or was already asked to stop.
 */
export async function stopWorkload(
  tx: Transaction,
  { id, reason, drainSeconds = 0, now }: { id: string; reason: string; drainSeconds?: number; now: Date },
): Promise<boolean> {
  const workload = await lockWorkload(tx, id);
  if (!workload || hasEnded(workload) || workload.wanted === 'stopped') return false;
  await wakeEngines(tx);
  await updateWorkload(tx, id, {
    wanted: 'stopped',
    stopRequestedAt: now,
    stopReason: reason,
    drainSeconds,
    checkAt: now,
  });
  return true;
}

/**
 * Transaction step: sets the complete spec of a workload that waits for its release, and lets it start.
 * Returns false if it has ended or is to stop.
 */
export async function releaseWorkload(
  tx: Transaction,
  { id, spec, now }: { id: string; spec: WorkloadSpec; now: Date },
): Promise<boolean> {
  if (!(await lockResting(tx, id))) return false;
  await tx
    .updateTable('workloads')
    .set({ spec: toJson(spec) })
    .where('id', '=', id)
    .execute();
  await insertInputs(tx, id);
  await updateWorkload(tx, id, { notBefore: now, queuedAt: now, checkAt: now, reason: '' });
  await wakeEngines(tx);
  return true;
}

/** Transaction step: fails a workload that waits for its release, unless it has ended or is to stop. */
export async function failResting(
  tx: Transaction,
  { id, reason, now }: { id: string; reason: string; now: Date },
): Promise<void> {
  if (!(await lockResting(tx, id))) return;
  const outcome: Outcome = { type: 'failed', message: reason, seq: 1, at: now.toISOString() };
  await updateWorkload(tx, id, { wanted: 'stopped', stopRequestedAt: now, outcome, checkAt: now });
  await wakeEngines(tx);
}

async function lockResting(tx: Transaction, id: string): Promise<boolean> {
  const workload = await lockWorkload(tx, id);
  return workload !== null && !hasEnded(workload) && workload.wanted === 'running';
}
