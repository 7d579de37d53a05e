import {
  getWorkloadInput,
  getWorkloadSpec,
  postWorkloadReports,
  putWorkloadArtefact,
} from '@bakehouse/contract/workloads';
import { type Binding, bindWorkload } from '../platform/http/bind.ts';
import { readAttemptSpec } from './files/read-attempt-spec.ts';
import { readInput } from './files/read-input.ts';
import { storeArtefact } from './files/store-artefact.ts';
import type { WorkloadKinds } from './model/workload-kind.ts';
import { acceptReports } from './reports/accept-reports.ts';

/** Returns the endpoints for running workloads. */
export function workloadRoutes(kinds: WorkloadKinds): Binding[] {
  return [
    bindWorkload(getWorkloadSpec, readAttemptSpec),
    bindWorkload(getWorkloadInput, (ctx, input, { request }) => readInput(ctx, input, request)),
    bindWorkload(postWorkloadReports, (ctx, input) => acceptReports(ctx, input, kinds)),
    bindWorkload(putWorkloadArtefact, (ctx, input, http) => storeArtefact(ctx, input, http)),
  ];
}
