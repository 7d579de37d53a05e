import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Launch } from '../../server/src/engine/drivers/driver.ts';
import { attemptJob } from '../../server/src/engine/drivers/kubernetes/attempt-job.ts';
import { type Cluster, openCluster } from '../../server/src/engine/drivers/kubernetes/cluster.ts';
import { createKubernetesDriver } from '../../server/src/engine/drivers/kubernetes/kubernetes-driver.ts';
import { KUEUE_API, localQueue, queueOf } from '../../server/src/engine/drivers/kubernetes/kueue.ts';
import { makeQueues } from '../../server/src/engine/drivers/kubernetes/testing/control-plane/queues.ts';
import {
  type ControlPlane,
  startControlPlane,
} from '../../server/src/engine/drivers/kubernetes/testing/control-plane/start.ts';
import { testSpec } from '../../server/src/engine/testing/test-spec.ts';
import { parseQueues } from '../../server/src/platform/cluster-settings.ts';
import { createLog } from '../../server/src/platform/log.ts';
import { timed } from './large-files.ts';
import type { Measured } from './measured.ts';

const NODES = 1_000;
const GPUS_A_NODE = 8;
const RUNS = 10_000;
const USERS = 32;
const QUEUES = ['h100-a', 'h100-b', 'h100-c', 'h100-d'];
/** Number of concurrent starts, the same as in the engine. */
const AT_ONCE = 4;
const NAMESPACE = 'bakehouse-work';
const PODS = { image: 'runtime:1', cudaImage: 'runtime:1', parts: {} };
const ON_GPU = { accelerator: 'NVIDIA_H100_80GB', count: 1 } as const;
const BOUND = 30;
const WATCHED_MS = 60_000;

/**
 * Measures runs that wait in Kueue's queues on a real control plane, and compares them with plain Jobs: how
 * soon each has its Workload, how soon one is bound to a node while others wait, and what observing them
 * costs.
 */
export async function measureCluster(): Promise<Measured[]> {
  const dir = await mkdtemp(path.join(tmpdir(), 'bakehouse-bench-'));
  const plane = await startControlPlane({ dir, namespace: NAMESPACE, kueue: true });
  try {
    // Queues of H100s without any quota, and one queue with free quota for runs that are bound immediately.
    await makeQueues(plane.cluster, [
      ...QUEUES.map((name) => ({ name, gpus: 0 })),
      { name: 'free', gpus: 8_000, cohort: 'free' },
    ]);
    for (let node = 0; node < NODES; node += 1)
      await plane.addNode(`node-${node}`, { product: 'NVIDIA-H100-80GB-HBM3', count: GPUS_A_NODE });
    return await measure(plane);
  } finally {
    await plane.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function measure({ kubeconfig, cluster }: ControlPlane): Promise<Measured[]> {
  const { counted, calls } = countCalls(await openCluster({ kubeconfig, namespace: NAMESPACE }));
  const driver = driverOn(counted, QUEUES);
  const unhindered = driverOn(cluster, ['free']);
  try {
    for (const one of [driver, unhindered])
      while ((await one.blocker({ kind: 'train', engine: null })) !== null) await sleep(100);
    const users = Array.from({ length: USERS }, () => randomUUID());
    const quiet = await callsIn(calls);
    const half = RUNS / 2;
    const alone = await timed(() => queueAlone(cluster, users, half));
    const ours = await timed(() => queueRuns(cluster, driver.start, users, half));
    const bound = await boundDuringRuns(cluster, unhindered.start, users);
    const waiting = await callsIn(calls);
    return [
      {
        name: `${half.toLocaleString('en')} runs in queues of Kueue`,
        ...{ ours, unit: 's', reference: { value: alone, what: 'as Jobs alone' } },
        goal: { kind: 'ratio at most', value: 1.2 },
      },
      {
        name: `request to bound beside ${RUNS.toLocaleString('en')} that wait, p95`,
        ...{ ours: bound.ours, unit: 's', reference: { value: bound.alone, what: 'as Jobs alone' } },
        goal: { kind: 'ratio at most', value: 1.2 },
      },
      {
        name: 'calls of the driver in a minute, all waiting',
        ...{ ours: waiting, unit: 'calls', reference: { value: quiet, what: 'with nothing to do' } },
        goal: { kind: 'more by less than', value: 5 },
      },
      {
        name: 'memory with them',
        ...{ ours: process.memoryUsage().rss / 1e6, unit: 'MB', goal: { kind: 'less than', value: 400 } },
      },
    ];
  } finally {
    await unhindered.close();
    await driver.close();
  }
}

function driverOn(cluster: Cluster, clusterQueues: string[]) {
  return createKubernetesDriver({
    ...{ cluster, pods: PODS, cpuWork: false, now: () => new Date() },
    queues: parseQueues(clusterQueues.join(',')),
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
  });
}

function countCalls(cluster: Cluster) {
  let count = 0;
  const counted: Cluster = {
    ...{ name: cluster.name, namespace: cluster.namespace },
    readText: (place) => cluster.readText(place),
    close: () => cluster.close(),
    call: (...call) => {
      count += 1;
      return cluster.call(...call);
    },
    readLines: (...call) => {
      count += 1;
      return cluster.readLines(...call);
    },
  };
  return { counted, calls: () => count };
}

async function callsIn(calls: () => number): Promise<number> {
  const before = calls();
  await sleep(WATCHED_MS);
  return calls() - before;
}

function launchOf(userId: string): Launch {
  return {
    ...{ workloadId: randomUUID(), attempt: 1, behaviour: 'run', userId, spec: testSpec('bench') },
    placement: ON_GPU,
    nodes: 1,
    ...{
      server: { base_url: 'http://bakehouse', token: randomUUID() },
      serverKey: '',
      deploymentId: null,
      devices: [],
    },
  };
}

/** Creates the Job of a launch with only the required fields. */
async function createAlone(cluster: Cluster, launch: Launch, queue: string): Promise<void> {
  const place = { queue, products: ['NVIDIA-H100-80GB-HBM3'] };
  await cluster.call('POST', `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`, attemptJob(launch, PODS, place));
}

async function queueAlone(cluster: Cluster, users: string[], count: number): Promise<void> {
  const queues = parseQueues(QUEUES.join(','));
  const before = await countWorkloads(cluster);
  for (const userId of users) {
    const { name, clusterQueue } = queueOf(queues, {
      userId,
      placement: ON_GPU,
    });
    await cluster.call(
      'POST',
      `${KUEUE_API}/namespaces/${NAMESPACE}/localqueues`,
      localQueue(name, clusterQueue),
    );
  }
  await each(count, async (index) => {
    const launch = launchOf(users[index % USERS] ?? '');
    await createAlone(cluster, launch, queueOf(queues, launch).name);
  });
  while ((await countWorkloads(cluster)) < before + count) await sleep(200);
}

async function queueRuns(
  cluster: Cluster,
  start: (launch: Launch) => Promise<void>,
  users: string[],
  count: number,
): Promise<void> {
  const before = await countWorkloads(cluster);
  await each(count, (index) => start(launchOf(users[index % USERS] ?? '')));
  while ((await countWorkloads(cluster)) < before + count) await sleep(200);
}

/** Starts launches one after the other. Returns the 95th percentile of seconds until a pod is bound. */
async function boundDuringRuns(
  cluster: Cluster,
  start: (launch: Launch) => Promise<void>,
  users: string[],
): Promise<{ ours: number; alone: number }> {
  const times: { ours: number[]; alone: number[] } = { ours: [], alone: [] };
  for (let round = 0; round < BOUND; round += 1) {
    const mine = launchOf(users[0] ?? '');
    times.ours.push(await timed(() => start(mine).then(() => isBound(cluster, mine))));
    const theirs = launchOf(users[0] ?? '');
    const { name } = queueOf(parseQueues('free'), theirs);
    times.alone.push(
      await timed(() => createAlone(cluster, theirs, name).then(() => isBound(cluster, theirs))),
    );
  }
  const p95 = (all: number[]) => all.toSorted((a, b) => a - b)[Math.floor(all.length * 0.95)] ?? 0;
  return { ours: p95(times.ours), alone: p95(times.alone) };
}

async function isBound(cluster: Cluster, { workloadId }: Launch): Promise<void> {
  const pods = `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=bakehouse/workload=${workloadId}`;
  for (;;) {
    const { items } = await cluster.call<{ items: { spec: { nodeName?: string } }[] }>('GET', pods);
    if (items.some(({ spec }) => spec.nodeName)) return;
    await sleep(20);
  }
}

async function countWorkloads(cluster: Cluster): Promise<number> {
  const page = await cluster.call<{ items: unknown[]; metadata: { remainingItemCount?: number } }>(
    'GET',
    `${KUEUE_API}/namespaces/${NAMESPACE}/workloads?limit=1`,
  );
  return page.items.length + (page.metadata.remainingItemCount ?? 0);
}

/** Repeats an action, with a few calls at a time. */
async function each(count: number, act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await act(next - 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
