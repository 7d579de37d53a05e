import { type Transaction, toJson } from '../platform/db/database.ts';
import { insertInputs } from './files/file-queries.ts';
import type { Behaviour, Placement, WorkloadSpec } from './model/workload.ts';
import { wakeEngines } from './queries.ts';

export type WorkloadRequest = {
  /** The user whose share of the queue it takes; null: it serves all users. */
  userId: string | null;
  behaviour: Behaviour;
  /** Name of the registered kind that answers for it. */
  kind: string;
  /** The deployment whose own model server it is; null: it is another's, or none. */
  deploymentId?: string | null;
  /** What its owner calls it. */
  title: string;
  spec: WorkloadSpec;
  placement: Placement;
  /** The quoted duration, for its kind; the queue uses the observed pace. */
  expectedSeconds?: number;
  now: Date;
  /** Until when it rests, and why. */
  notBefore?: Date;
  reason?: string;
};

/** Step: wants a workload to run. It is queued when the transaction commits. Returns its id. */
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
