import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parseQueues } from '../../../platform/cluster-settings.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { suiteScript } from '../../testing/driver-suite.ts';
import { testSpec } from '../../testing/test-spec.ts';
import type { Launch } from '../driver.ts';
import { checkCluster } from './check-cluster.ts';
import { KUEUE_API } from './kueue.ts';
import { WORKLOAD_LABEL } from './objects.ts';
import { clusterDriver, TEST_NAMESPACE } from './testing/cluster-driver.ts';
import { makeQueues } from './testing/control-plane/queues.ts';
import { startControlPlane } from './testing/control-plane/start.ts';
import { meetingPods } from './testing/meeting-pods.ts';
import type { NodeScript } from './testing/script-runner.ts';

/* A real control plane with Kueue (building it takes ten minutes, once), and pods that are scripts. */

describe('Kueue queues', async () => {
  const plane = await startControlPlane({
    dir: await temporaryFolder(),
    namespace: TEST_NAMESPACE,
    kueue: true,
  });
  onFileEnd(plane.close);
  const { cluster } = plane;
  await expect(checkCluster(cluster, { kueue: true })).rejects.toThrow(
    'no WorkloadPriorityClass bakehouse-deployment',
  );
  await makeQueues(cluster, [{ name: 'h100', gpus: 4 }]);
  await plane.addNode('fake', { product: 'NVIDIA-H100-80GB-HBM3', count: 8 });
  const meet = meetingPods(cluster);
  const script: NodeScript = (launch, process) =>
    launch.spec.kind === 'train' && launch.spec.title === 'meet'
      ? meet(launch, process)
      : suiteScript(launch, process);
  const { driver, runner, close } = await clusterDriver({
    ...{ kubeconfig: plane.kubeconfig, script, queues: parseQueues('h100') },
  });
  onFileEnd(close);
  plane.setLogs(runner.logs);
  await vi.waitFor(async () => expect(await driver.blocker({ kind: 'train', engine: null })).toBeNull());

  const started: Launch[] = [];
  async function start(
    title: string,
    count: number,
    behaviour: Launch['behaviour'] = 'run',
    nodes = 1,
  ): Promise<Launch> {
    const launch: Launch = {
      ...{ workloadId: randomUUID(), attempt: 1, behaviour, userId: randomUUID(), spec: testSpec(title) },
      placement: { accelerator: 'NVIDIA_H100_80GB', count },
      nodes,
      ...{
        server: { base_url: 'http://127.0.0.1:1', token: 'secret' },
        serverKey: 'key',
        deploymentId: null,
        devices: [],
      },
    };
    started.push(launch);
    await driver.start(launch);
    return launch;
  }
  const look = ({ workloadId }: Launch) => driver.observe(workloadId, 1);
  const becomes = (launch: Launch, seen: object) =>
    vi.waitFor(async () => expect(await look(launch)).toMatchObject(seen));
  afterEach(async () => {
    for (const { workloadId } of started.splice(0)) await driver.remove(workloadId);
    await vi.waitFor(async () => expect(await driver.list()).toEqual([]));
  });

  test('reports the capacity of the nodes and accepts work', async () => {
    expect((await driver.capacity()).gpus).toMatchObject([
      { type: 'NVIDIA_H100_80GB', devices: { length: 8 } },
    ]);
    expect(await checkCluster(cluster, { kueue: true })).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('work that exceeds the quota waits, reports why, and starts when quota is free', async () => {
    const [one, other] = [await start('idle', 2), await start('idle', 2)];
    await becomes(one, { state: 'alive' });
    await becomes(other, { state: 'alive' });
    const third = await start('idle', 2);
    await becomes(third, {
      state: 'pending',
      reason: expect.stringMatching(/^Waiting for quota: .*nvidia.com\/gpu/),
    });
    await driver.stop(one.workloadId, 1);
    await becomes(third, { state: 'alive' });
    expect(await look(one)).toMatchObject({ state: 'ended', exitCode: 0 });
  });

  test('two nodes are admitted together or not at all, and connect', async () => {
    const one = await start('idle', 2);
    await becomes(one, { state: 'alive' });
    // The free quota fits either node, but not both.
    const both = await start('meet', 2, 'run', 2);
    await becomes(both, { state: 'pending', reason: expect.stringMatching(/^Waiting for quota: .*gpu/) });
    const pods = `/api/v1/namespaces/${TEST_NAMESPACE}/pods?labelSelector=${WORKLOAD_LABEL}=${both.workloadId}`;
    expect((await cluster.call<{ items: object[] }>('GET', pods)).items).toEqual([]);
    await driver.stop(one.workloadId, 1);
    await becomes(both, { state: 'ended', by: 'itself', exitCode: 0 });
  });

  test('two nodes are preempted together, save their work, and are not readmitted', async () => {
    const run = await start('idle', 2, 'run', 2);
    await becomes(run, { state: 'alive' });
    const server = await start('idle', 1, 'deployment');
    await becomes(run, { state: 'ended', by: 'preempted', exitCode: 0, folder: 'gone' });
    await becomes(server, { state: 'alive' });
    await vi.waitFor(async () =>
      expect(await driver.listAlive()).toEqual([{ id: server.workloadId, attempt: 1 }]),
    );
  });

  test('a deleted queue is recreated for the work that waits in it', async () => {
    const one = await start('idle', 4);
    await becomes(one, { state: 'alive' });
    const other = await start('idle', 4);
    await becomes(other, { state: 'pending', reason: expect.stringMatching(/nvidia.com\/gpu/) });
    const queue = `${other.userId?.replaceAll('-', '')}-h100`;
    await cluster.call('DELETE', `${KUEUE_API}/namespaces/${TEST_NAMESPACE}/localqueues/${queue}`);
    await becomes(other, { state: 'pending', reason: expect.stringMatching(/LocalQueue .* doesn't exist/) });
    await driver.stop(one.workloadId, 1);
    await vi.waitFor(async () => {
      await driver.tidy(other.workloadId, 1);
      expect(await look(other)).toMatchObject({ state: 'alive' });
    });
  });

  test('a run is preempted by a model server, saves its work, and is not readmitted', async () => {
    const run = await start('idle', 4);
    await becomes(run, { state: 'alive' });
    const server = await start('idle', 4, 'deployment');
    await becomes(run, { state: 'ended', by: 'preempted', exitCode: 0, folder: 'gone' });
    await becomes(server, { state: 'alive' });
    await driver.stop(server.workloadId, 1);
    await becomes(server, { state: 'ended' });
    // Without deleting the Job, Kueue would readmit it under the same token.
    await vi.waitFor(async () => expect(await driver.listAlive()).toEqual([]));
    expect(await look(run)).toMatchObject({ state: 'ended', by: 'preempted' });
    await driver.start({ ...run, attempt: 2, server: { ...run.server, token: 'another' } });
    await vi.waitFor(async () =>
      expect(await driver.observe(run.workloadId, 2)).toMatchObject({ state: 'alive' }),
    );
  });

  test('an outage of Kueue and a restart of the API server end no work', async () => {
    const one = await start('idle', 2);
    await becomes(one, { state: 'alive' });
    await plane.stop('kueue');
    await plane.stop('apiserver');
    expect(await look(one)).toMatchObject({ state: 'alive' });
    await plane.resume('apiserver');
    await plane.resume('kueue');
    const other = await vi.waitFor(() => start('idle', 2));
    await becomes(other, { state: 'alive' });
    await driver.stop(one.workloadId, 1);
    await becomes(one, { state: 'ended', exitCode: 0 });
  });
});
