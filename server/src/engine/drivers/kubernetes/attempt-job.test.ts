import { expect, test } from 'vitest';
import { testSpec } from '../../testing/test-spec.ts';
import type { Launch } from '../driver.ts';
import { attemptJob } from './attempt-job.ts';

const GIB = 2 ** 30;
const weights = { path: 'model.safetensors', sha256: 'a'.repeat(64), size_bytes: 10 * GIB };

test.each([
  [1, '22Gi'],
  [4, '52Gi'],
])('the pod of a run on %i GPUs has them, and memory for a process on each', (count, memory) => {
  const launch: Launch = {
    ...{ workloadId: 'w', attempt: 1, behaviour: 'run', devices: [], userId: null, serverKey: '' },
    placement: { accelerator: 'NVIDIA_H100_80GB', count },
    nodes: 1,
    spec: testSpec('run', [{ name: 'base_model', files: [weights] }]),
    server: { base_url: 'http://server', token: 't' },
  };
  const job = attemptJob(launch, { image: 'cpu', cudaImage: 'cuda' }, { products: ['H100'], queue: null });
  const [container] = job.spec.template.spec.containers;
  expect(container?.image).toBe('cuda');
  expect(container?.resources.limits).toMatchObject({ 'nvidia.com/gpu': String(count) });
  expect(container?.resources.requests).toMatchObject({ cpu: String(4 * count), memory });
});
