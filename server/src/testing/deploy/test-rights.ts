import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import type { Driver, Launch } from '../../engine/drivers/driver.ts';
import { checkCluster } from '../../engine/drivers/kubernetes/check-cluster.ts';
import { type Cluster, openCluster } from '../../engine/drivers/kubernetes/cluster.ts';
import { createKubernetesDriver } from '../../engine/drivers/kubernetes/kubernetes-driver.ts';
import { KUEUE_API } from '../../engine/drivers/kubernetes/kueue.ts';
import { attemptName } from '../../engine/drivers/kubernetes/objects.ts';
import { pathsOf } from '../../engine/drivers/kubernetes/paths.ts';
import {
  type ControlPlane,
  startControlPlane,
} from '../../engine/drivers/kubernetes/testing/control-plane/start.ts';
import { startFakeKubelet } from '../../engine/drivers/kubernetes/testing/fake-kubelet.ts';
import { scriptRunner } from '../../engine/drivers/kubernetes/testing/script-runner.ts';
import { suiteScript, testDriver } from '../../engine/testing/driver-suite.ts';
import { testPlace } from '../../engine/testing/test-place.ts';
import { testSpec } from '../../engine/testing/test-spec.ts';
import { parseQueues, type Queues } from '../../platform/cluster-settings.ts';
import { createLog } from '../../platform/log.ts';
import { runProgram } from '../../platform/processes/run-program.ts';
import { onFileEnd } from '../on-file-end.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { chartDir, ciValues } from './helm.ts';

const RELEASE = 'bakehouse';
const WORK = 'bakehouse-work';

/**
 * Installs the chart on a real control plane and runs the driver suite there. The driver has only the rights
 * that the chart grants.
 */
export async function testRights(helm: string): Promise<void> {
  const dir = await temporaryFolder();
  const plane = await startControlPlane({ dir, namespace: WORK, kueue: true });
  onFileEnd(plane.close);
  const { cluster } = plane;
  await plane.addNode('node-0');
  await makeExampleQueues(cluster);
  await install(plane, helm);
  const kubeconfig = await kubeconfigOfPod(plane, dir);

  const open = await driversOf(plane, kubeconfig);
  const driver = await open(null);
  const ending = { by: 'evicted', lastLine: null, folder: 'gone' } as const;
  await testDriver('kubernetes, with the rights of the chart,', async () => driver, ending);

  test('work uses the queues of the example', async () => {
    const queued = await open(parseQueues('general'));
    const workloadId = randomUUID();
    const launch: Launch = {
      ...{ workloadId, attempt: 1, behaviour: 'run', spec: testSpec('idle') },
      ...{ server: { base_url: 'http://127.0.0.1:1', token: 'secret' }, serverKey: 'key' },
      ...testPlace,
    };
    await queued.start(launch);
    await vi.waitFor(async () =>
      expect(await queued.observe(workloadId, 1)).toMatchObject({ state: 'alive' }),
    );
    const records = `${KUEUE_API}/namespaces/${WORK}/workloads`;
    const { items } = await cluster.call<{ items: { spec: object }[] }>('GET', records);
    expect(items.map(({ spec }) => spec)).toMatchObject([{ priorityClassRef: { name: 'bakehouse-run' } }]);
    await queued.remove(workloadId);
  });

  testNodes(cluster, driver);

  test("the server's pods are created under the strictest security standard", async () => {
    const pods = `/api/v1/namespaces/${RELEASE}/pods`;
    await vi.waitFor(async () => {
      const { items } = await cluster.call<{ items: { metadata: { name: string } }[] }>('GET', pods);
      expect(new Set(items.map(({ metadata }) => metadata.name.split('-')[1]))).toEqual(
        new Set(['web', 'worker', 'reconciler']),
      );
    });
  });

  test('the driver has the rights that it checks at startup, and no rights that it does not use', async () => {
    const pod = await openCluster({ kubeconfig, namespace: WORK });
    onFileEnd(async () => pod.close());
    expect(await checkCluster(pod, { kueue: true })).toMatchObject({ id: expect.any(String) });
    const forbidden = { status: 403 };
    await expect(pod.call('GET', `/api/v1/namespaces/${WORK}/secrets`)).rejects.toMatchObject(forbidden);
    await expect(
      pod.call('GET', `/api/v1/namespaces/${RELEASE}/secrets/bakehouse-secret`),
    ).rejects.toMatchObject(forbidden);
    await expect(pod.call('POST', `/api/v1/namespaces/${WORK}/pods`, {})).rejects.toMatchObject(forbidden);
    await expect(pod.call('GET', '/api/v1/namespaces/default')).rejects.toMatchObject(forbidden);
    await expectRefused(pod);
    expect(await pod.call('GET', '/api/v1/namespaces/kube-system')).toMatchObject({ kind: 'Namespace' });
  });
}

/** Objects that are created for work on several nodes. */
function testNodes(cluster: Cluster, driver: Driver): void {
  test('work on two nodes gets its names and its policy', async () => {
    const workloadId = randomUUID();
    await driver.start({
      ...{ workloadId, attempt: 1, behaviour: 'run', spec: testSpec('idle') },
      ...{ server: { base_url: 'http://127.0.0.1:1', token: 'secret' }, serverKey: 'key' },
      ...{ ...testPlace, nodes: 2 },
    });
    await vi.waitFor(async () =>
      expect(await driver.observe(workloadId, 1)).toMatchObject({ state: 'alive' }),
    );
    const name = attemptName(workloadId, 1);
    const owned = { metadata: { ownerReferences: [{ kind: 'Job', name }] } };
    const { services, networkPolicies } = pathsOf(WORK);
    for (const collection of [services, networkPolicies])
      expect(await cluster.call('GET', `${collection}/${name}`)).toMatchObject(owned);
    await driver.remove(workloadId);
  });
}

/** Expects that the driver may not create objects that would expose work. */
async function expectRefused(pod: Cluster): Promise<void> {
  const { services, networkPolicies } = pathsOf(WORK);
  const metadata = { name: 'open' };
  const balanced = { metadata, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } };
  const lettingIn = (from: object[]) => ({
    metadata,
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] },
  });
  const lettingOut = { metadata, spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] } };
  const forbidden = { status: 403 };
  await expect(pod.call('POST', services, balanced)).rejects.toMatchObject(forbidden);
  for (const policy of [lettingIn([]), lettingIn([{ namespaceSelector: {} }]), lettingOut])
    await expect(pod.call('POST', networkPolicies, policy)).rejects.toMatchObject(forbidden);
}

/** Returns a kubeconfig with the reconciler's service account token. */
async function kubeconfigOfPod(plane: ControlPlane, dir: string): Promise<string> {
  const account = `/api/v1/namespaces/${RELEASE}/serviceaccounts/bake-reconciler/token`;
  const { status } = await plane.cluster.call<{ status: { token: string } }>('POST', account, { spec: {} });
  const kubeconfig = path.join(dir, 'kubeconfig-of-the-pod');
  const admin = JSON.parse(await readFile(plane.kubeconfig, 'utf8')) as { users: [{ user: object }] };
  admin.users[0].user = { token: status.token };
  await writeFile(kubeconfig, JSON.stringify(admin));
  return kubeconfig;
}

/** Creates the queues of deploy/kueue, which Kueue validates. */
async function makeExampleQueues(cluster: Cluster): Promise<void> {
  const file = path.join(chartDir, '../../kueue/queues.yaml');
  for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
    const { kind } = z.looseObject({ kind: z.string() }).parse(document.toJS());
    const plural = `${kind.toLowerCase()}${kind.endsWith('s') ? 'es' : 's'}`;
    await cluster.call('POST', `${KUEUE_API}/${plural}?fieldValidation=Strict`, document.toJS());
  }
}

async function install({ cluster, kubeconfig }: ControlPlane, helm: string): Promise<void> {
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.call('POST', '/api/v1/namespaces', { metadata: { name: RELEASE, labels: restricted } });
  await cluster.call('PATCH', `/api/v1/namespaces/${WORK}`, { metadata: { labels: restricted } });
  const words = ['--namespace', RELEASE, '--kubeconfig', kubeconfig, '--values', ciValues];
  // The test's control plane has neither the Gateway API nor the Prometheus operator.
  const off = ['work.createNamespace', 'httpRoute.enabled', 'monitoring.serviceMonitor', 'monitoring.rules'];
  const set = off.flatMap((value) => ['--set', `${value}=false`]);
  await runProgram(helm, ['install', 'bake', chartDir, ...words, ...set]);
}

/** Settings of work pods that the API server must accept. */
const PARTS = {
  all: {
    imagePullSecrets: [{ name: 'registry' }],
    tolerations: [{ key: 'batch', operator: 'Exists' as const }],
    affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
    labels: { team: 'bread' },
  },
};

/** Creates drivers with the rights of a kubeconfig. Their pods are scripts. */
async function driversOf(plane: ControlPlane, kubeconfig: string) {
  const runner = scriptRunner(suiteScript);
  plane.setLogs(runner.logs);
  const kubelet = startFakeKubelet({
    cluster: await openCluster({ kubeconfig: plane.kubeconfig, namespace: WORK }),
    nodeName: 'node-0',
    run: runner.run,
  });
  onFileEnd(() => kubelet.close());
  return async (queues: Queues | null) => {
    const driver = createKubernetesDriver({
      cluster: await openCluster({ kubeconfig, namespace: WORK }),
      pods: { image: 'runtime:1', cudaImage: 'runtime-cuda:1', parts: PARTS },
      ...{ cpuWork: true, queues, now: () => new Date(), outputEveryMs: 0 },
      log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    });
    onFileEnd(driver.close);
    const start = async (launch: Launch) => {
      runner.remember(launch);
      await driver.start(launch);
    };
    await vi.waitFor(async () => expect(await driver.blocker({ kind: 'train', engine: null })).toBeNull());
    return { ...driver, start };
  };
}
