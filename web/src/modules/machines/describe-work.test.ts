import type { Work } from '@bakehouse/contract/machines';
import { expect, it } from 'vitest';
import { describeSharing, describeSlots, describeWork } from './describe-work.ts';

const base: Work = {
  ...{ work_id: 'w', kind: 'run', model_name: null, deployments: 0, pod_id: null, owner: null },
  ...{ machine: null, state: 'queued', reason: '', position: 1, since: '2026-01-01T00:00:00Z', gpus: null },
};

it.each<[Partial<Work>, string, string]>([
  [{ kind: 'run' }, 'Training run', 'Not shared'],
  [{ kind: 'text_deployment', deployments: 1 }, 'Text deployment', 'Not shared'],
  [{ kind: 'image_deployment', deployments: 2 }, '2 picture deployments', 'Several users'],
  [{ kind: 'image_model', model_name: 'paris' }, 'Picture model paris', 'Everyone'],
  [
    { kind: 'text_model', model_name: 'starter', deployments: 1 },
    'Text model starter and 1 deployment',
    'Everyone',
  ],
])('%o is described as %s', (work, name, sharing) => {
  expect(describeWork({ ...base, ...work })).toBe(name);
  expect(describeSharing({ ...base, ...work })).toBe(sharing);
});

it('describes the slots it occupies', () => {
  expect(describeSlots(base)).toBe('1 CPU slot');
  const gpus = { gpu_type: 'NVIDIA_H100_80GB', label: 'NVIDIA H100 (80GB)', count: 2 };
  expect(describeSlots({ ...base, gpus })).toBe('2 × NVIDIA H100 (80GB)');
});
