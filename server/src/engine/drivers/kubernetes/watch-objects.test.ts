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

test('follows what comes, changes and goes', async () => {
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

test('reads an object that has U+2028 in it', async () => {
  const { get, close } = await watchPods();
  await create('separated');
  apiserver.change('pods', 'separated', { status: { message: 'one\u2028two' } });
  await vi.waitFor(() => expect(get('separated')?.status?.message).toBe('one\u2028two'));
  await remove('separated');
  await close();
});

test('misses nothing where its connection is cut again and again, and asks hardly more', async () => {
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
  // One for each cut; those that were forgotten cost a list besides.
  expect(podsAsked() - asked).toBeLessThanOrEqual(2 * cuts);
  await close();
});

test('lists anew where the API server does not know its position any more', async () => {
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

test('keeps what it knows while the API server is away, and goes on when it is back', async () => {
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

test('lists anew where the API server was away: it may have come back with an older state', async () => {
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

test('a call that the API server has no time for is made again', async () => {
  apiserver.fail(429, 1);
  await create('patient');
  expect(apiserver.list('pods').map(({ metadata }) => metadata.name)).toContain('patient');
});

test('what the API server asks to wait is waited for, by calls and watches alike', async () => {
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

test('where it asks for longer than a lease holds, the call fails at once and nothing is sent meanwhile', async () => {
  const { refused } = apiserver.throttle(3600);
  const other = await openCluster({ kubeconfig: apiserver.kubeconfig, namespace: 'work' });
  onFileEnd(async () => other.close());
  await expect(other.call('GET', path)).rejects.toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
  await expect(other.call('GET', path)).rejects.toMatchObject({ status: 429 });
  expect(refused()).toBe(1);
});
