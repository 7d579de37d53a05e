import { createAsset } from '@bakehouse/contract/assets';
import { getBalance } from '@bakehouse/contract/credits';
import * as runContract from '@bakehouse/contract/runs';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { openCluster } from '../../engine/drivers/kubernetes/cluster.ts';
import { TEST_NAMESPACE } from '../../engine/drivers/kubernetes/testing/cluster-driver.ts';
import { startFakeApiserver } from '../../engine/drivers/kubernetes/testing/fake-apiserver.ts';
import { startFakeKubelet } from '../../engine/drivers/kubernetes/testing/fake-kubelet.ts';
import { podProcesses } from '../../engine/drivers/kubernetes/testing/pod-processes.ts';
import { hasLayer } from '../../engine/host/environment/environment.ts';
import { runtimeCommand } from '../../engine/host/runtime-command.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { LONG_WAIT, realServer, rows, tinyModel, upload } from './testing/real-server.ts';

// The whole program with the real runtime in a cluster. Its pods are local processes here.
const isReady = await hasLayer(readConfig({}), 'training');

async function testCluster() {
  const apiserver = await startFakeApiserver();
  onFileEnd(apiserver.close);
  const open = () => openCluster({ kubeconfig: apiserver.kubeconfig, namespace: TEST_NAMESPACE });
  const { command, env } = await runtimeCommand(readConfig({}));
  const cluster = await open();
  const processes = podProcesses({ cluster, python: command, env: { ...env, OMP_NUM_THREADS: '1' } });
  apiserver.setLogs(processes.logs);
  const kubelet = startFakeKubelet({ cluster, nodeName: 'fake', run: processes.run });
  onFileEnd(() => kubelet.close());
  return { ...apiserver, cluster };
}

describe.skipIf(!isReady)('a run in a cluster', () => {
  test('resumes from the checkpoint of its evicted pod, and is charged once', {
    timeout: 40 * 60_000,
  }, async () => {
    const cluster = await testCluster();
    const server = await realServer({
      BAKEHOUSE_KUBECONFIG: cluster.kubeconfig,
      BAKEHOUSE_KUBERNETES_IMAGE: 'runtime:1',
      BAKEHOUSE_KUBERNETES_CPU_RUNS: 'true',
    });
    await server.start();
    const { client } = server;
    const user = await client.signUp('Ada');
    const datasetId = await upload(server, user, 'RAW', 'rows', { 'rows.csv': rows() });
    const baseId = await upload(server, user, 'MODEL', 'tiny', await tinyModel());
    const modelId = await client.request(
      createAsset,
      {
        body: {
          ...{ dataset_type: 'MODEL', title: 'the baker', user_id: user.userId },
          fine_tune_payload: {
            ...{ asset_id: datasetId, base_model: baseId, model_name: 'the baker', file_name: 'rows.csv' },
            ...{ user_id: user.userId, ceiling: '100', input_column: 'question', output_column: 'answer' },
            ...{ epochs: 40, batch_size: 2 },
          },
        },
      },
      { as: user, idempotencyKey: 'cluster' },
    );
    const see = async () => {
      const query = { model_id: modelId };
      const [run] = (await client.request(runContract.listRuns, { query }, { as: user })).runs;
      if (!run) throw new Error('no run');
      return run;
    };

    await vi.waitFor(async () => expect((await see()).step).toBeGreaterThanOrEqual(10), LONG_WAIT);
    const [pod] = cluster.list('pods');
    const disrupted = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
    cluster.change('pods', pod?.metadata.name ?? '', { status: { conditions: [disrupted] } });
    await cluster.cluster.call('DELETE', `/api/v1/namespaces/${TEST_NAMESPACE}/pods/${pod?.metadata.name}`);
    await vi.waitFor(async () => expect((await see()).restarts).toBe(1), LONG_WAIT);
    const run = await vi.waitFor(async () => {
      const ended = await see();
      expect(ended.state, ended.reason).toBe('completed');
      return ended;
    }, LONG_WAIT);

    expect(run).toMatchObject({ progress: 100, restarts: 1, step: run.steps_total });
    const { lines } = await client.request(
      runContract.getRunLogs,
      { params: { runId: run.run_id }, query: { limit: 100 } },
      { as: user },
    );
    const said = lines.map(({ line }) => line);
    expect(said).toContainEqual(expect.stringMatching(/Its machine was drained/));
    const [went = ''] = said.filter((line) => line.startsWith('Continuing from the checkpoint'));
    // The pod saved its work when it was asked to terminate.
    expect(Number(/\d+/.exec(went)?.[0])).toBeGreaterThanOrEqual(10);
    const { held } = await client.request(getBalance, { params: { userId: user.userId } }, { as: user });
    expect(held).toBe('0');
    await vi.waitFor(
      () => expect(cluster.list('jobs').concat(cluster.list('secrets'))).toEqual([]),
      LONG_WAIT,
    );
    await server.stop();
  });
});
