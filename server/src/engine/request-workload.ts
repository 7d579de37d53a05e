import { type Transaction, toJson } from '../platform/db/database.ts';
import { insertInputs } from './files/file-queries.ts';
import type { Behaviour, Placement, WorkloadSpec } from './model/workload.ts';
import { wakeEngines } from './queries.ts';

export type WorkloadRequest = {
  /** Whose turn it takes in the queue; null: it serves everybody. */
  userId: string | null;
  behaviour: Behaviour;
  /** Name of the registered kind that answers for it. */
  kind: string;
  /** What its owner calls it. */
  title: string;
  spec: WorkloadSpec;
  placement: Placement;
  /** How long it was quoted to work: kept for its kind, the queue goes by what is seen. */
  expectedSeconds?: number;
  now: Date;
  /** It rests until then, for this reason. */
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
