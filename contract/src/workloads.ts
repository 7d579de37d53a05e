import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { reportsAnswer, reportsBody } from './runtime/report.ts';

/** What a running workload calls. Its token is good for these paths of its own id alone. */
const workloadParams = z.object({ workloadId: z.uuid() });

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
  // Up to 500 reports, among them the lines that a library writes.
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
