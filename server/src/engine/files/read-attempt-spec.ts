import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { RUNTIME_PROTOCOL } from '@bakehouse/contract/runtime/workload-spec';
import type { getWorkloadSpec } from '@bakehouse/contract/workloads';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { workloadEnded } from '../../platform/errors.ts';
import type { WorkloadSpec } from '../model/workload.ts';
import { readSpec } from '../queries.ts';
import { findWorkload } from '../workloads.ts';
import { findCheckpoint } from './file-queries.ts';

/** Returns a workload's spec, with the checkpoint of its next attempt among its inputs. */
export async function readSpecWithCheckpoint(db: Database, id: string): Promise<WorkloadSpec> {
  const spec = await readSpec(db, id);
  const checkpoint = await findCheckpoint(db, id);
  return checkpoint ? { ...spec, inputs: [...spec.inputs, checkpoint] } : spec;
}

/** Returns the spec of the calling attempt, for workloads that cannot get it as a file. */
export async function readAttemptSpec({
  db,
  caller,
}: Context<WorkloadCaller>): Promise<ResponseOf<typeof getWorkloadSpec>> {
  const { workloadId } = caller;
  const workload = await findWorkload(db, workloadId);
  if (!workload) throw workloadEnded();
  const spec = await readSpecWithCheckpoint(db, workloadId);
  return {
    ...spec,
    protocol: RUNTIME_PROTOCOL,
    workload_id: workloadId,
    ...(spec.kind === 'serve' && { api_key: workload.serverKey ?? '' }),
  };
}
