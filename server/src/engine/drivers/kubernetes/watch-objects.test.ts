import { expect, test, vi } from 'vitest';
import { createLog } from '../../../platform/log.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { effort } from '../../../testing/soak.ts';
import { openCluster } from './cluster.ts';
import type { Pod } from './objects.ts';
import { startFakeApiserver } from './testing/fake-apiserver.ts';
import { watchObjects } from './watch-objects.ts';

const apiserver = await startFakeApiserver();
onFileEnd(apiserver.close);
const cluster = await openCluster({ kubeconfig: apiserver.kubeconfig, namespace: 'work' });
onFileEnd(async () => cluster.close());
const path = '/api/v1/namespaces/work/pods';
const podsAsked = () => apiserver.calls.filter((call) => call === `GET ${path}`).length;

async function watchPods() {
  const seen: string[] = [];
  const watched = watchObjects<Pod>({
    ...{ cluster, path, keep: (pod) => pod },
    onChange: (after, before) =>
      void seen.push(`${before ? (after ? 'changed' : 'gone') : 'new'} ${(after ?? before)?.metadata.name}`),
    log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    pauses: { firstMs: 5, longestMs: 50 },
  });
  const close = onFileEnd(() => watched.close());
  await vi.waitFor(() => expect(watched.isComplete()).toBe(true));
  return { seen, close, get: (name: string) => watched.get(name), values: () => watched.values() };
}

const create = (name: string) =>
  cluster.call('POST', path, { metadata: { name }, spec: {}, status: { phase: 'Pending' } });
const remove = (name: string) => cluster.call('DELETE', `${path}/${name}`, { gracePeriodSeconds: 0 });

test('reports added, changed and deleted objects', async () => {
  await create('there-before');
  const { seen, get, close } = await watchPods();
  await create('one');
  apiserver.change('pods', 'one', { status: { phase: 'Running' } });
  await vi.waitFor(() => expect(get('one')?.status?.phase).toBe('Running'));
  await remove('one');
  await remove('there-before');
  await vi.waitFor(() => expect(seen).toHaveLength(5));
  expect(seen).toEqual(['new there-before', 'new one', 'changed one', 'gone one', 'gone there-before']);
  await close();
});

test('reads an object that contains U+2028', async () => {
  const { get, close } = await watchPods();
  await create('separated');
  apiserver.change('pods', 'separated', { status: { message: 'one\u2028two' } });
  await vi.waitFor(() => expect(get('separated')?.status?.message).toBe('one\u2028two'));
  await remove('separated');
  await close();
});

test('misses nothing if its connection is cut repeatedly, with few extra requests', async () => {
  const { seen, values, close } = await watchPods();
  const cuts = effort({ usual: 30, soak: 100 });
  const asked = podsAsked();
  for (let cut = 0; cut < cuts; cut += 1) {
    apiserver.cut({ forget: cut % Math.ceil(cuts / 5) === 3 });
    await create(`pod-${cut}`);
    if (cut % 2 === 0) await remove(`pod-${cut}`);
    await vi.waitFor(() =>
      expect(seen.filter((one) => one.endsWith(` pod-${cut}`)).length % 2).toBe(1 - ((cut + 1) % 2)),
    );
  }
  expect([...values()].map(({ metadata }) => metadata.name).sort()).toEqual(
    apiserver
      .list('pods')
      .map(({ metadata }) => metadata.name)
      .sort(),
  );
  // One request per cut, plus a list for each expired resource version.
  expect(podsAsked() - asked).toBeLessThanOrEqual(2 * cuts);
  await close();
});

test('relists if the API server no longer knows the resource version', async () => {
  const { seen, close } = await watchPods();
  await create('kept');
  await create('lost');
  await vi.waitFor(() => expect(seen).toContain('new lost'));
  apiserver.cut({ forget: true });
  await remove('lost');
  await vi.waitFor(() => expect(seen).toContain('gone lost'));
  expect(seen).not.toContain('gone kept');
  await close();
});

test('retains its state during an outage of the API server, and resumes afterwards', async () => {
  const { seen, values, close } = await watchPods();
  const known = [...values()].length;
  apiserver.fail(503, 8);
  apiserver.cut();
  await vi.waitFor(() => expect(apiserver.pending()).toBe(0));
  expect([...values()]).toHaveLength(known);
  await create('after');
  await vi.waitFor(() => expect(seen).toContain('new after'));
  await close();
});

test('relists after an outage of the API server, which may have been restored to an older state', async () => {
  await create('of-the-snapshot');
  const { seen, close } = await watchPods();
  const goBack = apiserver.keep();
  await remove('of-the-snapshot');
  await create('since-the-snapshot');
  await vi.waitFor(() => expect(seen).toContain('new since-the-snapshot'));
  apiserver.fail(503, 1);
  goBack();
  apiserver.cut();
  await vi.waitFor(() => expect(seen).toContain('gone since-the-snapshot'));
  expect(seen.filter((one) => one.endsWith('of-the-snapshot'))).toEqual([
    ...['new of-the-snapshot', 'gone of-the-snapshot', 'new of-the-snapshot'],
  ]);
  await close();
});

test('retries a call that the API server was too busy for', async () => {
  apiserver.fail(429, 1);
  await create('patient');
  expect(apiserver.list('pods').map(({ metadata }) => metadata.name)).toContain('patient');
});

test('calls and watches wait as long as the API server requests', async () => {
  const { seen, close } = await watchPods();
  const call = apiserver.throttle(2);
  await create('patient-for-two-seconds');
  expect(call.refused()).toBe(1);
  await vi.waitFor(() => expect(seen).toContain('new patient-for-two-seconds'));
  const watch = apiserver.throttle(2);
  apiserver.cut();
  await vi.waitFor(() => expect(watch.refused()).toBe(1));
  await create('after-a-watch-was-refused');
  await vi.waitFor(() => expect(seen).toContain('new after-a-watch-was-refused'));
  expect(watch.refused()).toBe(1);
  await close();
});

test('if the requested wait exceeds a lease, the call fails immediately and nothing is sent until then', async () => {
  const { refused } = apiserver.throttle(3600);
  const other = await openCluster({ kubeconfig: apiserver.kubeconfig, namespace: 'work' });
  onFileEnd(async () => other.close());
  await expect(other.call('GET', path)).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
  await expect(other.call('GET', path)).rejects.toMatchObject({ status: 429 });
  expect(refused()).toBe(1);
});
