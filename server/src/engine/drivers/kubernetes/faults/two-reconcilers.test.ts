import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../../testing/on-file-end.ts';
import { effort } from '../../../../testing/soak.ts';
import { temporaryFolder } from '../../../../testing/temporary-folder.ts';
import { attemptName } from '../objects.ts';
import { TEST_NAMESPACE } from '../testing/cluster-driver.ts';
import { clusterWorld } from '../testing/cluster-world.ts';
import { startControlPlane } from '../testing/control-plane/start.ts';
import { type FakeApiserver, startFakeApiserver } from '../testing/fake-apiserver.ts';

/* Two reconcilers on one cluster; on a real control plane in a soak. */

type TestCluster = Pick<FakeApiserver, 'kubeconfig' | 'setLogs' | 'close'>;
const startCluster = effort<() => Promise<TestCluster>>({ usual: startFakeApiserver, soak: startReal });

async function startReal() {
  const plane = await startControlPlane({ dir: await temporaryFolder(), namespace: TEST_NAMESPACE });
  await plane.addNode('fake');
  return plane;
}

const apiserver = await startCluster();
onFileEnd(apiserver.close);
const world = await clusterWorld(apiserver);
const kubelet = await world.node('fake');
const [one, other, late] = [await world.reconciler(), await world.reconciler(), await world.reconciler()];

async function jobsOf(id: string): Promise<string[]> {
  const path = `/apis/batch/v1/namespaces/${TEST_NAMESPACE}/jobs?labelSelector=bakehouse/workload=${id}`;
  const { items } = await kubelet.cluster.call<{ items: { metadata: { name: string } }[] }>('GET', path);
  return items.map(({ metadata }) => metadata.name);
}

/** Advances time while all reconcilers and pods work. */
async function goOn(): Promise<void> {
  world.tick();
  await world.passListening(3);
}

async function end(id: string): Promise<void> {
  await world.stop(id);
  await world.reach(other.engine, id, { state: 'stopped' }, 3);
  for (const { driver } of [one, other]) await driver.remove(id);
}

test('closes an attempt whose delayed start arrives after the next attempt began, and rejects its reports', async () => {
  // The first pass reads the capacity of the nodes, so that the later ones need not.
  await late.engine.pass();
  const id = await world.request();
  late.hold();
  const pass = late.engine.pass();
  await vi.waitFor(() => expect(late.waiting()).toBeGreaterThan(0));
  expect(await world.see(id)).toMatchObject({ state: 'scheduling', attempt: 1 });

  // The lease of the paused pass expires, and the other process starts the next attempt.
  world.pass(60);
  await world.reach(other.engine, id, { state: 'ready', attempt: 2 });
  // The paused process completes its call and dies before it reads the response.
  late.loseClaim();
  late.wake();
  await pass;
  expect((await jobsOf(id)).sort()).toEqual([attemptName(id, 1), attemptName(id, 2)]);
  await vi.waitFor(async () => {
    await goOn();
    await other.engine.pass();
    expect(await jobsOf(id)).toEqual([attemptName(id, 2)]);
  });
  expect(await world.see(id)).toMatchObject({ state: 'ready', attempt: 2, failures: 0 });
  expect(world.attemptsOf(id)).toEqual([2]);
  await end(id);
});

test('does not treat work as vanished if its watch has not shown it yet', async () => {
  await one.engine.pass();
  one.hold();
  one.wake();
  const id = await world.request();
  await world.reach(other.engine, id, { state: 'ready', attempt: 1 });
  world.pass(5);
  await one.engine.pass();
  one.hear();
  expect(await world.see(id)).toMatchObject({ state: 'ready', attempt: 1, failures: 0 });
  await end(id);
});

test('both reconcile the same work, and each attempt starts and ends once', async () => {
  const ids = await Promise.all(
    Array.from({ length: effort({ usual: 6, soak: 20 }) }, () => world.request()),
  );
  const both = () => Promise.all([one, other].map(({ engine }) => engine.pass()));
  const all = (expected: object) =>
    vi.waitFor(async () => {
      await goOn();
      await both();
      for (const id of ids) expect(await world.see(id)).toMatchObject(expected);
    });
  await all({ state: 'ready', attempt: 1 });
  // All processes die at the same time.
  world.tick(3);
  await all({ state: 'ready', attempt: 2, failures: 1, restarts: 1 });
  for (const id of ids) await world.stop(id);
  await all({ state: 'stopped', attempt: 2 });
  for (const id of ids) {
    expect(world.attemptsOf(id)).toEqual([1, 2]);
    expect(world.ends.filter((seen) => seen.id === id).map(({ attempt }) => attempt)).toEqual([1, 2]);
  }
});
