import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { reportsAnswer, reportsBody } from './runtime/report.ts';
import { RUNTIME_PROTOCOL } from './runtime/workload-spec.ts';

/** Calls that a running workload makes. Its token is only valid for paths with its own id. */
const workloadParams = z.object({ workloadId: z.uuid() });

/**
 * A spec without the fields that depend on the attempt's environment: `server`, `work_dir`, `keeps_work_dir`,
 * `inputs_dir`, and for a model server `host`, `threads` and `leave_seconds`.
 */
const attemptSpec = z.looseObject({ protocol: z.literal(RUNTIME_PROTOCOL), workload_id: z.string().min(1) });

export const getWorkloadSpec = endpoint({
  method: 'GET',
  path: '/runtime/v1/workloads/:workloadId/spec',
  access: 'workload',
  summary: 'Get the specification of an attempt',
  params: workloadParams,
  response: attemptSpec,
});

export const getWorkloadInput = endpoint({
  method: 'GET',
  path: '/runtime/v1/workloads/:workloadId/inputs/:sha256',
  access: 'workload',
  summary: 'Download an input; supports Range',
  answers: { 'application/octet-stream': null },
  params: workloadParams.extend({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
});

export const postWorkloadReports = endpoint({
  method: 'POST',
  path: '/runtime/v1/workloads/:workloadId/reports',
  access: 'workload',
  summary: 'Send numbered reports; repeated ones are ignored',
  params: workloadParams,
  body: reportsBody,
  // Up to 500 reports, including log lines of libraries.
  bodyBytesMax: 8 * 1024 * 1024,
  response: reportsAnswer,
});

export const putWorkloadArtefact = endpoint({
  method: 'PUT',
  path: '/runtime/v1/workloads/:workloadId/artefacts/*',
  access: 'workload',
  summary: 'Upload an output file; X-Content-SHA256 must match its bytes',
  params: workloadParams.extend({ '*': z.string().min(1) }),
  upload: 'bytes',
  status: 204,
});
