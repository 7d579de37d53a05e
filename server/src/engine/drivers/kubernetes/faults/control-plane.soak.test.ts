import { afterEach, describe, expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../../testing/temporary-folder.ts';
import type { Workload } from '../../../model/workload.ts';
import { attemptName, type Pod } from '../objects.ts';
import { TEST_NAMESPACE } from '../testing/cluster-driver.ts';
import { clusterWorld } from '../testing/cluster-world.ts';
import { snapshotEtcd } from '../testing/control-plane/snapshot-etcd.ts';
import { startControlPlane } from '../testing/control-plane/start.ts';

/*
 * Work on a real control plane that is restored from a snapshot, and on a node that disappears and returns.
 */

/** Kubernetes marks a silent node as lost after more than a minute; a silent watch is dropped after five. */
const LONG = { timeout: 600_000, interval: 500 };

describe('on a control plane', async () => {
  const dir = await temporaryFolder();
  const plane = await startControlPlane({ dir, namespace: TEST_NAMESPACE, losesNodes: true });
  onFileEnd(plane.close);
  const { cluster } = plane;
  const world = await clusterWorld(plane);
  const nodes = new Map<string, Awaited<ReturnType<typeof world.node>>>();
  for (const name of ['node-a', 'node-b']) {
    await plane.addNode(name);
    const network = await world.node(name);
    nodes.set(name, network);
    beat(name, network);
  }
  const reconciler = await world.reconciler();

  /** Sends the Ready heartbeat of a kubelet. */
  function beat(name: string, network: { cluster: typeof cluster }): void {
    const timer = setInterval(() => {
      const condition = { type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() };
      const status = { conditions: [{ ...condition, reason: 'KubeletReady' }] };
      network.cluster.call('PATCH', `/api/v1/nodes/${name}/status`, { status }).catch(() => undefined);
    }, 1000);
    onFileEnd(async () => clearInterval(timer));
  }

  const namespaced = (kind: string) =>
    `/${kind === 'jobs' ? 'apis/batch' : 'api'}/v1/namespaces/${TEST_NAMESPACE}/${kind}`;
  async function list(kind: 'jobs' | 'pods'): Promise<Pod[]> {
    return (await cluster.call<{ items: Pod[] }>('GET', namespaced(kind))).items;
  }
  const namesOf = (all: Pod[], id: string) =>
    all.map(({ metadata }) => metadata.name).filter((name) => name.includes(id));
  const podOf = async (id: string, attempt: number) =>
    (await list('pods')).find(({ metadata }) => metadata.name.startsWith(attemptName(id, attempt)));

  async function becomes(expected: Map<string, Partial<Workload>>): Promise<void> {
    await vi.waitFor(async () => {
      world.tick();
      await world.passListening(3);
      await reconciler.engine.pass();
      for (const [id, seen] of expected) expect(await world.see(id)).toMatchObject(seen);
    }, LONG);
  }
  const ids: string[] = [];
  async function request(): Promise<string> {
    const id = await world.request();
    ids.push(id);
    await becomes(new Map([[id, { state: 'ready', attempt: 1 }]]));
    return id;
  }
  afterEach(async () => {
    for (const id of ids) await world.stop(id);
    await becomes(new Map(ids.map((id) => [id, { endedAt: expect.any(Date) }])));
    for (const id of ids.splice(0)) await reconciler.driver.remove(id);
    await vi.waitFor(
      async () => expect([...(await list('jobs')), ...(await list('pods'))]).toEqual([]),
      LONG,
    );
  });

  test('after restoring an old etcd, running work continues, vanished work ends and reappeared work is removed', {
    timeout: 1_800_000,
  }, async () => {
    const [steady, evicted, stopped] = [await request(), await request(), await request()];
    const goBack = await snapshotEtcd(plane, dir);
    await vi.waitFor(async () => {
      const pod = await podOf(evicted, 1);
      await cluster.call('DELETE', `${namespaced('pods')}/${pod?.metadata.name}`);
    });
    await world.stop(stopped);
    await becomes(
      new Map<string, Partial<Workload>>([
        [evicted, { state: 'ready', attempt: 2, failures: 0 }],
        [stopped, { state: 'stopped' }],
      ]),
    );
    const since = await request();
    // Restore once the controllers have noticed that Jobs and pods cannot be watched.
    await goBack(() => vi.waitFor(() => expect(reconciler.refused.size).toBe(2)));
    expect(namesOf(await list('jobs'), evicted)).toEqual([attemptName(evicted, 1)]);
    expect(namesOf(await list('jobs'), since)).toEqual([]);

    await becomes(
      new Map<string, Partial<Workload>>([
        [steady, { state: 'ready', attempt: 1 }],
        [evicted, { state: 'ready', attempt: 3, failures: 0 }],
        [since, { state: 'ready', attempt: 2, failures: 0 }],
        [stopped, { state: 'stopped', attempt: 1 }],
      ]),
    );
    await vi.waitFor(async () => {
      await reconciler.engine.pass();
      expect(namesOf(await list('jobs'), evicted)).toEqual([attemptName(evicted, 3)]);
    }, LONG);
    expect(world.attemptsOf(evicted)).toEqual([1, 2, 3]);
    expect(world.ends.filter(({ id }) => id === evicted).map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(world.ends.filter(({ id }) => id === steady)).toEqual([]);
  });

  test('a lost node ends its work, and reports of its zombie processes are ignored', {
    timeout: 1_800_000,
  }, async () => {
    const id = await request();
    const nodeName = (await podOf(id, 1))?.spec.nodeName ?? '';
    const network = nodes.get(nodeName);
    network?.partition();
    await becomes(new Map([[id, { state: 'ready', attempt: 2, failures: 0, restarts: 1 }]]));
    expect((await podOf(id, 2))?.spec.nodeName).not.toBe(nodeName);
    expect(await podOf(id, 1)).toBeUndefined();
    const saidBefore = world.accepted.length;
    world.tick();
    await vi.waitFor(() => expect(world.accepted.length).toBeGreaterThan(saidBefore));
    expect(new Set(world.accepted.slice(saidBefore).map(({ attempt }) => attempt))).toEqual(new Set([2]));
    network?.heal();
    await becomes(new Map([[id, { state: 'ready', attempt: 2 }]]));
    expect(world.attemptsOf(id)).toEqual([1, 2]);
  });
});
