import type { Queues } from '../../../../platform/cluster-settings.ts';
import { createLog } from '../../../../platform/log.ts';
import { openCluster } from '../cluster.ts';
import { createKubernetesDriver, type KubernetesDriver } from '../kubernetes-driver.ts';
import { startFakeKubelet } from './fake-kubelet.ts';
import { type NodeScript, scriptRunner } from './script-runner.ts';

export const TEST_NAMESPACE = 'bakehouse-work';

/** A driver on a cluster whose pods, on one node, are scripts. */
export async function clusterDriver({
  kubeconfig,
  nodeName = 'fake',
  script,
  queues = null,
  now = () => new Date(),
}: {
  kubeconfig: string;
  nodeName?: string;
  script: NodeScript;
  queues?: Queues | null;
  now?: () => Date;
}) {
  const open = () => openCluster({ kubeconfig, namespace: TEST_NAMESPACE });
  const runner = scriptRunner(script);
  const kubelet = startFakeKubelet({ cluster: await open(), nodeName, run: runner.run });
  const inner = createKubernetesDriver({
    cluster: await open(),
    pods: { image: 'runtime:1', cudaImage: 'runtime-cuda:1', parts: {} },
    cpuWork: true,
    queues,
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    now,
    outputEveryMs: 0,
  });
  const driver: KubernetesDriver = {
    ...inner,
    start: async (launch) => {
      runner.remember(launch);
      await inner.start(launch);
    },
  };
  const close = async () => {
    await kubelet.close();
    await driver.close();
  };
  return { driver, kubelet, runner, close };
}
