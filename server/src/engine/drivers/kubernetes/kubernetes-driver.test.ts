import { expect, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { effort } from '../../../testing/soak.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { suiteScript, testDriver } from '../../testing/driver-suite.ts';
import { clusterDriver, TEST_NAMESPACE } from './testing/cluster-driver.ts';
import { startControlPlane } from './testing/control-plane/start.ts';
import { type FakeApiserver, startFakeApiserver } from './testing/fake-apiserver.ts';

/** A real control plane in a soak (building it takes ten minutes, once). */
type TestCluster = Pick<FakeApiserver, 'kubeconfig' | 'setLogs' | 'close'>;
const startCluster = effort<() => Promise<TestCluster>>({ usual: startFakeApiserver, soak: startReal });

async function startReal() {
  const plane = await startControlPlane({ dir: await temporaryFolder(), namespace: TEST_NAMESPACE });
  await plane.addNode('fake');
  return plane;
}

const cluster = await startCluster();
onFileEnd(cluster.close);
const { driver, runner, close } = await clusterDriver({
  kubeconfig: cluster.kubeconfig,
  script: suiteScript,
});
onFileEnd(close);
cluster.setLogs(runner.logs);
await vi.waitFor(async () => expect(await driver.blocker({ kind: 'train', engine: null })).toBeNull());

// Kubelets only store the last output of failed pods.
await testDriver('kubernetes', async () => driver, { by: 'evicted', lastLine: null, folder: 'gone' });
