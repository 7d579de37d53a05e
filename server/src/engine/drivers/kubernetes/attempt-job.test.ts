import { expect, test } from 'vitest';
import type { PodParts } from '../../../platform/pod-settings.ts';
import { testSpec } from '../../testing/test-spec.ts';
import type { Launch } from '../driver.ts';
import { attemptJob } from './attempt-job.ts';

const GIB = 2 ** 30;
const weights = { path: 'model.safetensors', sha256: 'a'.repeat(64), size_bytes: 10 * GIB };

const runOf = (count: number, nodes: number): Launch => ({
  ...{
    workloadId: 'w',
    attempt: 1,
    behaviour: 'run',
    devices: [],
    userId: null,
    deploymentId: null,
    serverKey: '',
  },
  placement: { accelerator: 'NVIDIA_H100_80GB', count },
  nodes,
  spec: testSpec('run', [{ name: 'base_model', files: [weights] }]),
  server: { base_url: 'http://server', token: 't' },
});
const made = (launch: Launch, parts: PodParts = {}) =>
  attemptJob(launch, { image: 'cpu', cudaImage: 'cuda', parts }, { products: ['H100'], queue: null });

test.each([
  [1, '22Gi'],
  [4, '52Gi'],
])('the pod of a run on %i GPUs has them, and memory for a process on each', (count, memory) => {
  const job = made(runOf(count, 1));
  const [container] = job.spec.template.spec.containers;
  expect(container?.image).toBe('cuda');
  expect(container?.resources.limits).toMatchObject({ 'nvidia.com/gpu': String(count) });
  expect(container?.resources.requests).toMatchObject({ cpu: String(4 * count), memory });
});

test('a Job on several nodes has a pod on each, which is told its rank and where the first one is', () => {
  const { metadata, spec } = made(runOf(8, 4));
  expect(spec).toMatchObject({
    ...{ backoffLimit: 0, completionMode: 'Indexed', completions: 4, parallelism: 4 },
    template: { metadata: { labels: { 'bakehouse/nodes': '4' } }, spec: { subdomain: metadata.name } },
  });
  for (const { env } of [...spec.template.spec.initContainers, ...spec.template.spec.containers])
    expect(env.filter(({ name }) => name.startsWith('PET_'))).toEqual([
      { name: 'PET_NNODES', value: '4' },
      {
        name: 'PET_NODE_RANK',
        valueFrom: {
          fieldRef: { fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']" },
        },
      },
      { name: 'PET_MASTER_ADDR', value: 'bakehouse-w-1-0.bakehouse-w-1' },
      { name: 'PET_MASTER_PORT', value: '29400' },
    ]);
});

test('a router finds the model servers of a deployment by its id, at one port, and whether they are ready and busy', () => {
  const deploymentId = '0197f3a2-6c1e-7d50-9b57-3f1f5e0f7a11';
  const launch: Launch = { ...runOf(1, 1), behaviour: 'deployment', deploymentId };
  const { template } = made(launch).spec;
  expect(template.metadata.labels).toMatchObject({ 'bakehouse/deployment': deploymentId });
  expect(template.spec.initContainers[0]?.command.join(' ')).toContain('--port 8000');
  expect(template.spec.containers[0]).toHaveProperty('readinessProbe.httpGet', {
    path: '/health',
    port: 8000,
  });
  expect(template.spec.containers[0]?.env).toContainEqual({ name: 'BAKEHOUSE_OPEN_METRICS', value: '1' });

  const { template: alone } = made({ ...launch, deploymentId: null }).spec;
  expect(JSON.stringify(alone)).not.toMatch(/bakehouse\/deployment|--port|OPEN_METRICS|readinessProbe/);
});

test('a Job on one node has a pod alone, and is told nothing of others', () => {
  const { spec } = made(runOf(8, 1));
  expect(spec).not.toHaveProperty('completionMode');
  expect(spec.template.spec).not.toHaveProperty('subdomain');
  expect(JSON.stringify(spec)).not.toMatch(/PET_|bakehouse\/nodes/);
});

const cpuRun: Launch = { ...runOf(1, 1), placement: { accelerator: null, count: 0 } };

test('a pod has the settings of all pods and of its GPU type', () => {
  const parts: PodParts = {
    all: {
      imagePullSecrets: [{ name: 'registry' }],
      nodeSelector: { pool: 'work' },
      tolerations: [{ key: 'work', operator: 'Exists' }],
      labels: { team: 'bread' },
      priorityClassName: 'batch',
    },
    NVIDIA_H100_80GB: {
      runtimeClassName: 'nvidia',
      priorityClassName: 'gpu',
      nodeSelector: { zone: 'a' },
      tolerations: [{ key: 'h100', operator: 'Exists' }],
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      annotations: { note: 'x' },
    },
  };
  const { metadata, spec } = made(runOf(1, 1), parts).spec.template;
  expect(metadata).toMatchObject({
    labels: { team: 'bread', 'bakehouse/behaviour': 'run' },
    annotations: { note: 'x', 'karpenter.sh/do-not-disrupt': 'true' },
  });
  expect(spec).toMatchObject({
    imagePullSecrets: [{ name: 'registry' }],
    runtimeClassName: 'nvidia',
    priorityClassName: 'gpu',
    nodeSelector: { pool: 'work', zone: 'a' },
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [],
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] },
      },
    },
  });
  expect(spec.tolerations.map(({ key }) => key).slice(2)).toEqual(['nvidia.com/gpu', 'work', 'h100']);

  const onCpu = made(cpuRun, parts).spec.template.spec;
  expect(onCpu).toMatchObject({ priorityClassName: 'batch', nodeSelector: { pool: 'work' } });
  expect(onCpu.runtimeClassName ?? onCpu.affinity).toBeUndefined();
});

test('only the container that downloads the inputs mounts the cache of files', () => {
  const parts: PodParts = { all: { inputCache: { claimName: 'models', gigabytes: 500 } } };
  const { initContainers, containers, volumes } = made(cpuRun, parts).spec.template.spec;
  expect(volumes).toContainEqual({ name: 'cache', persistentVolumeClaim: { claimName: 'models' } });
  expect(initContainers[0]?.command.join(' ')).toContain('--cache /cache');
  expect(initContainers[0]?.env).toContainEqual({
    name: 'BAKEHOUSE_INPUT_CACHE_BYTES',
    value: '500000000000',
  });
  expect(initContainers[0]?.volumeMounts).toContainEqual({ name: 'cache', mountPath: '/cache' });
  expect(containers[0]?.volumeMounts.map(({ name }) => name)).not.toContain('cache');
});

test('autoscalers may move model servers, but not runs', () => {
  const server: Launch = { ...cpuRun, behaviour: 'deployment' };
  expect(made(server).spec.template.metadata.annotations).toEqual({});
  expect(made(cpuRun).spec.template.metadata.annotations).toEqual({
    'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
    'karpenter.sh/do-not-disrupt': 'true',
  });
});
