import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { startFakeApiserver } from './engine/drivers/kubernetes/testing/fake-apiserver.ts';
import { clusterEngine } from './open-cluster.ts';
import { createLog } from './platform/log.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';

afterEach(() => vi.useRealTimers());

/** An engine for a cluster whose API server has the given address, and the errors that it logs. */
async function engineFor(kubeconfig: string) {
  const log = createLog({ logLevel: 'silent', logFormat: 'json' });
  const errors = vi.spyOn(log, 'error');
  const cluster = { kubeconfig, namespace: 'bakehouse-work', queues: null };
  const engine = clusterEngine({ services: { log }, kinds: {}, cluster } as never);
  return { engine, errors };
}

/** An API server that gives this account no rights. */
async function denyingApiserver() {
  const apiserver = await startFakeApiserver();
  apiserver.serve('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 201, {
    status: { allowed: false },
  });
  return apiserver;
}

test('does not start with settings that the cluster rejects', async () => {
  const apiserver = await denyingApiserver();
  const { engine } = await engineFor(apiserver.kubeconfig);
  await expect(engine.start()).rejects.toThrow(/^BAKEHOUSE_KUBECONFIG: this account may not create jobs/);
  await apiserver.close();
});

test('waits for an unreachable cluster, and longer if it then rejects the settings', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const apiserver = await denyingApiserver();
  const settings = await readFile(apiserver.kubeconfig, 'utf8');
  const kubeconfig = path.join(await temporaryFolder(), 'kubeconfig');
  await writeFile(kubeconfig, settings.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'));
  const { engine, errors } = await engineFor(kubeconfig);
  await engine.start();
  expect(errors).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(1);

  await writeFile(kubeconfig, settings);
  await vi.advanceTimersByTimeAsync(10_000);
  await vi.waitFor(() => expect(errors).toHaveBeenCalled());
  expect(errors.mock.calls).toEqual([
    [
      { err: expect.objectContaining({ message: expect.stringMatching(/may not create jobs/) }) },
      'the cluster rejects the settings; it gets no work until they are corrected',
    ],
  ]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(errors).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(1);
  await engine.shutdown();
  await apiserver.close();
});
