import { findWorkloadWithSpec } from '../../../engine/find-workload-with-spec.ts';
import type { WorkloadState, WorkloadWithSpec } from '../../../engine/model/workload.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { type ModelServerRow, setWorkloads } from './server-queries.ts';

const STUCK: WorkloadState[] = ['queued', 'failed'];

/**
 * Step: moves a deployment's ready replicas ahead of failed and waiting ones. Replicas are interchangeable
 * and the last is dropped first, so a broken replica affects neither the others nor the deployment. Returns
 * the updated rows.
 */
export async function moveReadyAhead(tx: Transaction, replicas: ModelServerRow[]): Promise<ModelServerRow[]> {
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
