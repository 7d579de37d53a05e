import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { parseQueues } from '../../../platform/cluster-settings.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { suiteScript } from '../../testing/driver-suite.ts';
import { testPlace } from '../../testing/test-place.ts';
import { testSpec } from '../../testing/test-spec.ts';
import { attemptName } from './objects.ts';
import { describePlace } from './queue-places.ts';
import { clusterDriver, TEST_NAMESPACE } from './testing/cluster-driver.ts';
import { startFakeApiserver } from './testing/fake-apiserver.ts';

const pathOf = (queue: string) =>
  `/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/${queue}/pendingworkloads`;

/** A driver whose Jobs are never admitted. */
async function waiting(queues: string) {
  const apiserver = await startFakeApiserver();
  onFileEnd(apiserver.close);
  const { driver, close } = await clusterDriver({
    ...{ kubeconfig: apiserver.kubeconfig, script: suiteScript, queues: parseQueues(queues) },
  });
  onFileEnd(close);
  await vi.waitFor(async () => expect(await driver.blocker({ kind: 'train', engine: null })).toBeNull());
  const start = async () => {
    const workloadId = randomUUID();
    const server = { base_url: 'http://127.0.0.1:1', token: 'secret' };
    await driver.start({
      ...{ workloadId, attempt: 1, behaviour: 'run', spec: testSpec('idle'), serverKey: 'key', server },
      ...testPlace,
    });
    return workloadId;
  };
  const asked = () => apiserver.calls.filter((call) => call.endsWith('/pendingworkloads')).length;
  return { apiserver, driver, start, asked };
}

/** Captured from Kueue 0.16.2. */
function summary(entries: { job: string; namespace?: string; position: number }[]) {
  return {
    ...{ kind: 'PendingWorkloadsSummary', apiVersion: 'visibility.kueue.x-k8s.io/v1beta2', metadata: {} },
    items: entries.map(({ job, namespace = TEST_NAMESPACE, position }) => ({
      metadata: {
        ...{ name: `job-${job}-1a2b3`, namespace, creationTimestamp: '2026-11-29T12:00:00Z' },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job, uid: randomUUID() }],
      },
      priority: 100,
      localQueueName: 'everybody-general',
      positionInClusterQueue: position,
      positionInLocalQueue: 0,
    })),
  };
}

test('reads all places with one call per queue, however many Jobs wait', async () => {
  const { apiserver, driver, start, asked } = await waiting('cpu=general,h100');
  const ids = await Promise.all(Array.from({ length: 20 }, start));
  const entries = ids.map((id, position) => ({ job: attemptName(id, 1), position }));
  // Jobs of other namespaces must be ignored.
  const elsewhere = { job: attemptName(ids[0] ?? '', 1), namespace: 'other', position: 50 };
  apiserver.serve(pathOf('general'), 200, summary([...entries, elsewhere]));
  const reasonOf = async (id = '') => {
    const observed = await driver.observe(id, 1);
    return observed.state === 'pending' ? observed.reason : observed.state;
  };
  await vi.waitFor(async () =>
    expect(await reasonOf(ids[0])).toBe('Waiting for quota. It is next in its queue.'),
  );
  expect(await reasonOf(ids[1])).toBe('Waiting for quota. One workload is ahead of it in its queue.');
  expect(await reasonOf(ids[2])).toBe('Waiting for quota. 2 workloads are ahead of it in its queue.');
  expect(await reasonOf(ids[19])).toBe('Waiting for quota. About 20 workloads are ahead of it in its queue.');
  for (const id of ids) await reasonOf(id);
  expect(asked()).toBe(2);
});

test.each([403, 404, 503])('returns no place and no error if Kueue responds with %i', async (status) => {
  const { apiserver, driver, start, asked } = await waiting('general');
  apiserver.serve(pathOf('general'), status, { message: 'no' });
  const id = await start();
  await driver.observe(id, 1);
  await vi.waitFor(() => expect(asked()).toBe(1));
  expect(await driver.observe(id, 1)).toEqual({ state: 'pending', reason: 'Waiting for quota.' });
});

test('does not request places if nothing waits for quota', async () => {
  const { apiserver, driver, start, asked } = await waiting('general');
  const id = await start();
  apiserver.change('jobs', attemptName(id, 1), { spec: { suspend: false } });
  await vi.waitFor(async () => expect(await driver.listAlive()).toHaveLength(1));
  expect(await driver.observe(id, 1)).toMatchObject({ state: 'alive' });
  expect(asked()).toBe(0);
});

test('the description changes at most a few dozen times on the way through a long queue', () => {
  const told = new Set(Array.from({ length: 1000 }, (_, before) => describePlace(before)));
  expect(told.size).toBeLessThan(32);
  expect(describePlace(970)).toBe('About 1,000 workloads are ahead of it in its queue.');
});
