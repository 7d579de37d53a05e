import { randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { effort } from '../../../testing/soak.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { suiteScript } from '../../testing/driver-suite.ts';
import { testPlace } from '../../testing/test-place.ts';
import { testSpec } from '../../testing/test-spec.ts';
import type { Launch } from '../driver.ts';
import { attemptJob, attemptSecret } from './attempt-job.ts';
import { openCluster } from './cluster.ts';
import { attemptName, type Pod, rankOf } from './objects.ts';
import { pathsOf } from './paths.ts';
import { clusterDriver, TEST_NAMESPACE } from './testing/cluster-driver.ts';
import { startControlPlane } from './testing/control-plane/start.ts';
import { type FakeApiserver, startFakeApiserver } from './testing/fake-apiserver.ts';
import { meetingPods } from './testing/meeting-pods.ts';
import type { NodeScript } from './testing/script-runner.ts';

/* Attempts on two nodes; on a real control plane in a soak. */

type TestCluster = Pick<FakeApiserver, 'kubeconfig' | 'setLogs' | 'close'>;
const startCluster = effort<() => Promise<TestCluster>>({ usual: startFakeApiserver, soak: startReal });

async function startReal() {
  const plane = await startControlPlane({ dir: await temporaryFolder(), namespace: TEST_NAMESPACE });
  await plane.addNode('fake');
  return plane;
}

const apiserver = await startCluster();
onFileEnd(apiserver.close);
const cluster = await openCluster({ kubeconfig: apiserver.kubeconfig, namespace: TEST_NAMESPACE });
onFileEnd(async () => cluster.close());
const paths = pathsOf(TEST_NAMESPACE);
const meet = meetingPods(cluster);
/** Output of each pod, stored here because the pods of a failed Job are soon deleted. */
const said = new Map<string, string[]>();

/**
 * By title: nodes that connect to each other, one node that exits while the other idles, or two idle nodes.
 */
const script: NodeScript = async (launch, process) => {
  const { title } = launch.spec as { title: string };
  if (title === 'meet') return meet(launch, process);
  const lines: string[] = [];
  said.set(process.pod.metadata.name, lines);
  const print = (line: string) => {
    lines.push(line);
    process.print(line);
  };
  const [, status] = /^the second ends with (\d+)$/.exec(title) ?? [];
  if (status !== undefined && rankOf(process.pod) === 1) {
    print('the words of the second');
    return Number(status);
  }
  return suiteScript(launch, { ...process, print });
};
const { driver, runner, close } = await clusterDriver({ kubeconfig: apiserver.kubeconfig, script });
onFileEnd(close);
apiserver.setLogs(runner.logs);
await vi.waitFor(async () => expect(await driver.blocker({ kind: 'train', engine: null })).toBeNull());

const made: string[] = [];
function launchOf(title: string): Launch {
  const workloadId = randomUUID();
  made.push(workloadId);
  return {
    ...{ workloadId, attempt: 1, behaviour: 'run', spec: testSpec(title) },
    ...{ server: { base_url: 'http://127.0.0.1:1', token: 'secret' }, serverKey: 'key' },
    ...{ ...testPlace, nodes: 2 },
  };
}
const look = ({ workloadId }: Launch) => driver.observe(workloadId, 1);
const becomes = (launch: Launch, seen: object) =>
  vi.waitFor(async () => expect(await look(launch)).toMatchObject(seen));

async function list(path: string): Promise<Pod[]> {
  return (await cluster.call<{ items: Pod[] }>('GET', path)).items;
}
async function podOf({ workloadId }: Launch, rank: number): Promise<string> {
  const pods = await list(paths.pods);
  const found = pods.find(
    (pod) => pod.metadata.name.startsWith(attemptName(workloadId, 1)) && rankOf(pod) === rank,
  );
  return found?.metadata.name ?? '';
}

afterEach(async () => {
  for (const workloadId of made.splice(0)) await driver.remove(workloadId);
  // Ignore the policies and Services that the cluster itself created.
  const names = async (path: string) =>
    (await list(path)).map(({ metadata }) => metadata.name).filter((name) => name.startsWith('bakehouse-'));
  await vi.waitFor(async () => {
    for (const path of [paths.jobs, paths.pods, paths.secrets, paths.services, paths.networkPolicies])
      expect(await names(path)).toEqual([]);
  });
});

test('two nodes connect by the name of the first, and the attempt succeeds with both', async () => {
  const one = launchOf('meet');
  await driver.start(one);
  await becomes(one, { state: 'ended', by: 'itself', exitCode: 0 });
  expect(await driver.listAlive()).toEqual([]);
});

test('if the process that created the Job died, the next reconciler connects its nodes', async () => {
  const one = launchOf('meet');
  runner.remember(one);
  await cluster.call('POST', paths.secrets, attemptSecret(one));
  const images = { image: 'runtime:1', cudaImage: 'runtime-cuda:1', parts: {} };
  await cluster.call('POST', paths.jobs, attemptJob(one, images, { products: [], queue: null }));
  await becomes(one, { state: 'alive' });
  expect(await list(paths.networkPolicies)).toEqual([]);
  await driver.tidy(one.workloadId, 1);
  await becomes(one, { state: 'ended', by: 'itself', exitCode: 0 });
});

test('a repeated start creates nothing twice', async () => {
  const one = launchOf('idle');
  await driver.start(one);
  await becomes(one, { state: 'alive' });
  await driver.start(one);
  const ranks = (await list(paths.pods)).map(rankOf);
  expect(ranks.toSorted((a, b) => a - b)).toEqual([0, 1]);
  expect(await driver.listAlive()).toEqual([{ id: one.workloadId, attempt: 1 }]);
});

test('a failed node ends the attempt with the output of that node, and ends the other node', async () => {
  const one = launchOf('the second ends with 3');
  await driver.start(one);
  await becomes(one, {
    ...{ state: 'ended', by: 'itself', exitCode: 3, folder: 'gone' },
    lastLine: 'Node 1: the words of the second',
  });
  expect(await driver.logs(one.workloadId, 10)).toContain('Node 1: the words of the second');
  await vi.waitFor(async () => expect(await podOf(one, 0)).toBe(''));
  expect(await look(one)).toMatchObject({ by: 'itself', exitCode: 3 });
});

test('a node that exits with 0 does not end the other', async () => {
  const one = launchOf('the second ends with 0');
  await driver.start(one);
  const second = await vi.waitFor(async () => {
    const name = await podOf(one, 1);
    const pod = await cluster.call<Pod>('GET', `${paths.pods}/${name}`);
    expect(pod.status?.phase).toBe('Succeeded');
    return name;
  });
  expect(second).not.toBe('');
  expect(await look(one)).toMatchObject({ state: 'alive' });
  await driver.stop(one.workloadId, 1);
  await becomes(one, { state: 'ended', by: 'evicted', exitCode: 0 });
});

test('if one node is taken away, the other saves its work, and the attempt reports why the node was taken', async () => {
  const one = launchOf('idle');
  await driver.start(one);
  await becomes(one, { state: 'alive' });
  const [first, second] = [await podOf(one, 0), await podOf(one, 1)];
  const reason = { type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' };
  await cluster.call('PATCH', `${paths.pods}/${second}/status`, { status: { conditions: [reason] } });
  await cluster.call('DELETE', `${paths.pods}/${second}`);
  await becomes(one, { state: 'ended', by: 'preempted', folder: 'gone' });
  for (const name of [first, second]) expect(said.get(name)).toContain('saved');
  await vi.waitFor(async () => expect(await list(paths.jobs)).toEqual([]));
});
