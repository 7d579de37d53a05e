import { type Transaction, toJson } from '../platform/db/database.ts';
import { insertInputs } from './files/file-queries.ts';
import type { Behaviour, Placement, WorkloadSpec } from './model/workload.ts';
import { wakeEngines } from './queries.ts';

export type WorkloadRequest = {
  /** The user whose share of the queue it uses; null if it serves all users. */
  userId: string | null;
  behaviour: Behaviour;
  /** Name of the registered kind that handles it. */
  kind: string;
  /** The deployment that it exclusively serves; null if it is shared or no model server. */
  deploymentId?: string | null;
  /** Name chosen by its owner. */
  title: string;
  spec: WorkloadSpec;
  placement: Placement;
  /** The quoted duration, for its kind; the queue uses the observed pace. */
  expectedSeconds?: number;
  now: Date;
  /** Earliest start, and the reason to wait. */
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
