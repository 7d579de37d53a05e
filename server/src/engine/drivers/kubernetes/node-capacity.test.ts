import { expect, test } from 'vitest';
import { readConfig } from '../../../config.ts';
import { parseQueues } from '../../../platform/cluster-settings.ts';
import { readNodes } from './node-capacity.ts';
import type { Node } from './objects.ts';

const GIB = 2 ** 30;

function node(name: string, labels: Record<string, string>, gpus = 0, more: Partial<Node> = {}): Node {
  return {
    metadata: { name, labels },
    status: {
      allocatable: { cpu: '15800m', memory: '128Gi', ...(gpus > 0 && { 'nvidia.com/gpu': String(gpus) }) },
      conditions: [{ type: 'Ready', status: 'True' }],
    },
    ...more,
  };
}

const h100 = {
  'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3',
  'nvidia.com/gpu.memory': '81559',
  'nvidia.com/gpu.compute.major': '9',
  'nvidia.com/gpu.compute.minor': '0',
  'nvidia.com/cuda.driver.major': '580',
};
const other = { ...h100, 'nvidia.com/gpu.product': 'NVIDIA-H100-PCIe' };

test('sums GPUs of a type over all nodes, and limits a pod to the GPUs of one node', () => {
  const { capacity, products, cpu } = readNodes(
    [node('a', h100, 8), node('b', other, 4), node('c', {})],
    false,
    null,
  );
  expect(capacity.gpus).toMatchObject([
    {
      type: 'NVIDIA_H100_80GB',
      devices: [0, 1, 2, 3, 4, 5, 6, 7],
      machines: 2,
      memoryBytes: 81559 * 2 ** 20,
    },
  ]);
  expect(products.get('NVIDIA_H100_80GB')).toEqual(['NVIDIA-H100-80GB-HBM3', 'NVIDIA-H100-PCIe']);
  expect(capacity['cpu:run']).toBeUndefined();
  expect(cpu).toEqual({ cores: 47, memory_bytes: 3 * 128 * GIB });
});

test('offers parts of a GPU (MIG) as a type of their own, which settings can name', () => {
  const name = 'NVIDIA H100 80GB HBM3 MIG 1g.10gb';
  const part = { 'nvidia.com/gpu.product': name.replaceAll(' ', '-'), 'nvidia.com/gpu.memory': '9856' };
  const { capacity } = readNodes([node('a', h100, 8), node('b', { ...h100, ...part }, 7)], false, null);
  expect(capacity.gpus?.map(({ type, memoryBytes }) => [type, memoryBytes])).toEqual([
    ['NVIDIA_H100_80GB', 81559 * 2 ** 20],
    [name, 9856 * 2 ** 20],
  ]);
  const cluster = { BAKEHOUSE_KUBECONFIG: 'k', BAKEHOUSE_KUBERNETES_IMAGE: 'i' };
  const settings = {
    BAKEHOUSE_KUBERNETES_PODS: JSON.stringify({ [name]: {} }),
    BAKEHOUSE_KUEUE_QUEUES: `${name}=parts`,
  };
  const read = readConfig({ ...cluster, ...settings }).cluster;
  expect([read?.podParts, [...(read?.queues ?? [])]]).toEqual([{ [name]: {} }, [[name, ['parts']]]]);
});

test('offers CPUs if CPU work is enabled', () => {
  expect(readNodes([node('a', {}), node('b', {})], true, null).capacity).toMatchObject({
    ...{ 'cpu:run': 2, 'cpu:deployment': 2, cpuMemoryBytes: 128 * GIB, gpus: [], servesTextOnGpus: false },
  });
});

test('ignores nodes that accept no pods, and GPUs that are too old', () => {
  const cordoned = node('a', h100, 8, { spec: { unschedulable: true } });
  const lost = node('b', h100, 8, { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } });
  const v100 = {
    ...h100,
    'nvidia.com/gpu.product': 'Tesla-V100-SXM2-16GB',
    'nvidia.com/gpu.compute.major': '7',
  };
  expect(readNodes([cordoned, lost, node('c', v100, 8)], false, null).capacity.gpus).toEqual([]);
});

test('reports GPUs without a queue, and does not offer them', () => {
  const l4 = { ...h100, 'nvidia.com/gpu.product': 'NVIDIA-L4', 'nvidia.com/gpu.memory': '23034' };
  const nodes = [node('a', h100, 8), node('b', l4, 1)];
  const { capacity, products, withoutQueue } = readNodes(nodes, false, parseQueues('NVIDIA_H100_80GB=h100'));
  expect(capacity.gpus).toMatchObject([{ type: 'NVIDIA_H100_80GB', machines: 1 }]);
  expect([...products.keys()]).toEqual(['NVIDIA_H100_80GB']);
  expect(withoutQueue).toHaveLength(1);
  const [type] = withoutQueue;
  expect(readNodes(nodes, false, parseQueues(`NVIDIA_H100_80GB=h100,${type}=small`))).toMatchObject({
    capacity: { gpus: [{}, { type }] },
    withoutQueue: [],
  });
  expect(readNodes(nodes, false, parseQueues('rest')).withoutQueue).toEqual([]);
});
