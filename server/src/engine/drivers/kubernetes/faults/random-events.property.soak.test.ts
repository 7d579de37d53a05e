import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { parseQueues } from '../../../../platform/cluster-settings.ts';
import { onFileEnd } from '../../../../testing/on-file-end.ts';
import type { Pod } from '../objects.ts';
import { TEST_NAMESPACE } from '../testing/cluster-driver.ts';
import { clusterWorld } from '../testing/cluster-world.ts';
import { startFakeApiserver } from '../testing/fake-apiserver.ts';
import { type Move, moves } from './moves.ts';

/*
 * Invariants for any order of events: reports are accepted from one attempt at a time, each end is seen once,
 * wanted work is never lost, and removed work leaves nothing behind.
 */

/** Part of the test's name; set it to a number to repeat a run. */
const seed = randomInt(2 ** 31);
const LIMIT_MS = 3_600_000;

const apiserver = await startFakeApiserver();
onFileEnd(apiserver.close);
/** Every other workload runs on two nodes. */
const onTwo = new Set<string>();
const world = await clusterWorld(apiserver, (id) => (onTwo.has(id) ? 2 : 1));
const network = await world.node('fake');
const QUEUES = parseQueues('q');

type Reconciler = Awaited<ReturnType<typeof world.reconciler>>;
type Run = { ids: string[]; reconcilers: Reconciler[]; passes: (Promise<void> | null)[] };

const podsPath = `/api/v1/namespaces/${TEST_NAMESPACE}/pods`;
const jobsPath = `/apis/batch/v1/namespaces/${TEST_NAMESPACE}/jobs`;
const listPods = () => apiserver.list('pods') as Pod[];
const pick = <One>(all: One[], which: number): One | undefined => all[which % Math.max(all.length, 1)];

/** Deletes as an administrator, retrying while the API server is busy. */
async function remove(path: string, body: object): Promise<void> {
  await vi.waitFor(async () => {
    const answered = network.admin.call('DELETE', path, body);
    await answered.catch((error: { status?: number }) => {
      if (error.status !== 404) throw error;
    });
  });
}

function disrupt(pod: Pod | undefined, reason: string): void {
  // The pod may already be gone, for example because another pod of its Job was deleted.
  if (!pod || !listPods().some(({ metadata }) => metadata.name === pod.metadata.name)) return;
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason }];
  apiserver.change('pods', pod.metadata.name, { status: { conditions } });
}

/** Starts a pass unless one is running, and waits for it unless its process is paused. */
async function pass(run: Run, who: number): Promise<void> {
  const reconciler = run.reconcilers[who];
  if (!reconciler) return;
  // Ignore failures: a later pass repeats the work.
  run.passes[who] ??= reconciler.engine
    .pass()
    .catch(() => undefined)
    .finally(() => {
      run.passes[who] = null;
    });
  if (!reconciler.isHeld()) await run.passes[who];
}

async function wake(run: Run, who: number): Promise<void> {
  const reconciler = run.reconcilers[who];
  reconciler?.wake();
  await run.passes[who];
  reconciler?.hear();
}

function admit(): void {
  for (const { metadata, spec } of apiserver.list('jobs'))
    if (spec?.suspend && !metadata.deletionTimestamp)
      apiserver.change('jobs', metadata.name, { spec: { suspend: false } });
}

async function loseNode(): Promise<void> {
  network.partition();
  for (const pod of listPods()) {
    disrupt(pod, 'DeletionByTaintManager');
    await remove(`${podsPath}/${pod.metadata.name}`, {});
  }
}

async function request({ ids }: Run): Promise<void> {
  const id = await world.request();
  ids.push(id);
  if (ids.length % 2 === 1) onTwo.add(id);
}

async function apply(run: Run, move: Move): Promise<void> {
  switch (move.move) {
    case 'request':
      return request(run);
    case 'stop': {
      const id = pick(run.ids, move.which);
      if (id !== undefined) await world.stop(id);
      return;
    }
    case 'evict': {
      const pod = pick(listPods(), move.which);
      disrupt(pod, 'EvictionByEvictionAPI');
      if (pod) await remove(`${podsPath}/${pod.metadata.name}`, {});
      return;
    }
    case 'deletePod': {
      const pod = pick(listPods(), move.which);
      if (pod) await remove(`${podsPath}/${pod.metadata.name}`, { gracePeriodSeconds: 0 });
      return;
    }
    case 'deleteJob': {
      const job = pick(apiserver.list('jobs'), move.which);
      if (job) await remove(`${jobsPath}/${job.metadata.name}`, { propagationPolicy: 'Background' });
      return;
    }
    case 'preempt': {
      const job = pick(apiserver.list('jobs'), move.which);
      if (job) apiserver.change('jobs', job.metadata.name, { spec: { suspend: true } });
      return;
    }
    case 'pass':
      await world.passListening(move.seconds);
      return pass(run, move.who);
    case 'work':
      return world.tick();
    case 'exit':
      return world.tick(move.status);
    case 'admit':
      return admit();
    case 'loseNode':
      return loseNode();
    case 'healNode':
      return network.heal();
    case 'cut':
      return apiserver.cut({ forget: move.forget });
    case 'fail':
      return apiserver.fail(503, move.times);
    case 'hold':
      return run.reconcilers[move.who]?.hold();
    case 'wake':
      return wake(run, move.who);
    case 'restart':
      await wake(run, move.who);
      await run.reconcilers[move.who]?.close();
      run.reconcilers[move.who] = await world.reconciler(QUEUES);
  }
}

/** Waits, without further events, until all work has finished. */
async function settle(run: Run, isSettled: () => Promise<void>): Promise<void> {
  await vi.waitFor(async () => {
    admit();
    world.tick();
    await world.passListening(3);
    for (const who of run.reconcilers.keys()) await pass(run, who);
    await isSettled();
  });
}

async function check(given: Move[]): Promise<void> {
  const run: Run = { ids: [], reconcilers: [], passes: [null, null] };
  await request(run);
  run.reconcilers = [await world.reconciler(QUEUES), await world.reconciler(QUEUES)];
  for (const move of given) await apply(run, move);

  network.heal();
  for (const who of run.reconcilers.keys()) await wake(run, who);
  const seeAll = () => Promise.all(run.ids.map((id) => world.see(id)));
  await settle(run, async () => {
    for (const { wanted, state, endedAt, reason } of await seeAll())
      if (wanted === 'running' && endedAt === null) expect(state, reason).toBe('ready');
      else expect(endedAt, reason).not.toBeNull();
  });
  for (const id of run.ids) await world.stop(id);
  await settle(run, async () => {
    for (const { endedAt } of await seeAll()) expect(endedAt).not.toBeNull();
  });
  for (const id of run.ids) {
    const order = world.accepted.filter((one) => one.id === id).map(({ attempt }) => attempt);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    const ended = world.ends.filter((one) => one.id === id).map(({ attempt }) => attempt);
    expect(ended).toEqual([...new Set(ended)]);
    expect(ended).toEqual(expect.arrayContaining(world.attemptsOf(id)));
  }
  for (const id of run.ids) await vi.waitFor(() => run.reconcilers[0]?.driver.remove(id));
  await vi.waitFor(() => {
    for (const kind of ['jobs', 'pods', 'secrets', 'services', 'networkpolicies'])
      expect(apiserver.list(kind).map(({ metadata }) => metadata.name)).toEqual([]);
  });
  for (const { close } of run.reconcilers) await close();
}

test(`whatever happens to a cluster (seed ${seed})`, { timeout: LIMIT_MS }, async () => {
  await fc.assert(fc.asyncProperty(moves, check), {
    ...{ seed, numRuns: 300, endOnFailure: true },
  });
});
