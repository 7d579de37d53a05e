import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseQueues } from '../../../platform/cluster-settings.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { suiteScript } from '../../testing/driver-suite.ts';
import { testSpec } from '../../testing/test-spec.ts';
import type { Launch } from '../driver.ts';
import { clusterDriver, TEST_NAMESPACE } from './testing/cluster-driver.ts';
import { makeQueues } from './testing/control-plane/queues.ts';
import { startControlPlane } from './testing/control-plane/start.ts';

/* A real control plane with Kueue (building it takes ten minutes, once), and pods that are scripts. */

const GPUS = 8;
const USERS = 8;
const RUNS_EACH = 12;
/** Kueue samples usage each second and computes the shares from these samples. */
const RUN_MS = 5_000;
/** Extra runs that the first user requests before the other users request any. */
const GREEDY_RUNS = 10 * RUNS_EACH;
/** Ten for each user; fewer than a user requests, so that all users still have waiting runs. */
const ADMITTED = 10 * USERS;

describe('eight users, one with ten times as many requests', { timeout: 900_000 }, async () => {
  const plane = await startControlPlane({
    ...{ dir: await temporaryFolder(), namespace: TEST_NAMESPACE, kueue: true },
  });
  onFileEnd(plane.close);
  await makeQueues(plane.cluster, [
    { name: 'shared', gpus: GPUS, cohort: 'shared', isShared: true },
    { name: 'fifo', gpus: GPUS, cohort: 'fifo' },
  ]);
  await plane.addNode('fake', { product: 'NVIDIA-H100-80GB-HBM3', count: 8 });

  /** Number of the first started runs per user, the greedy user first. */
  async function sharesIn(queue: string): Promise<number[]> {
    const { driver, runner, close } = await clusterDriver({
      ...{ kubeconfig: plane.kubeconfig, script: suiteScript, queues: parseQueues(queue) },
    });
    onTestFinished(close);
    plane.setLogs(runner.logs);
    await vi.waitFor(async () => expect(await driver.blocker({ kind: 'train', engine: null })).toBeNull());
    const waiting = launches();
    for (const launch of waiting) await driver.start(launch);
    const begun = new Set<Launch>();
    const ends: Promise<void>[] = [];
    while (begun.size < ADMITTED) {
      await sleep(50);
      for (const launch of waiting) {
        if (begun.has(launch) || begun.size === ADMITTED) continue;
        if ((await driver.observe(launch.workloadId, 1)).state !== 'alive') continue;
        begun.add(launch);
        ends.push(sleep(RUN_MS).then(() => driver.stop(launch.workloadId, 1)));
      }
    }
    await Promise.all(ends);
    for (const { workloadId } of waiting) await driver.remove(workloadId);
    await vi.waitFor(async () => expect(await driver.list()).toEqual([]), { timeout: 60_000 });
    const users = [...new Set(waiting.map(({ userId }) => userId))];
    return users.map((user) => [...begun].filter(({ userId }) => userId === user).length);
  }

  test('all users get the same share if the queue orders by usage', async () => {
    const [greedy = 0, ...others] = await sharesIn('shared');
    // The greedy user's first runs were admitted without competition.
    expect(greedy).toBeLessThanOrEqual(11 + GPUS);
    // Kueue's sampling makes shares vary by a fifth.
    for (const share of others) expect(Math.abs(share - 10)).toBeLessThanOrEqual(3);
  });

  test('the first user gets most if the queue does not order by usage', async () => {
    const [greedy = 0] = await sharesIn('fifo');
    expect(greedy).toBeGreaterThan(ADMITTED / 2);
  });
});

function launches(): Launch[] {
  const users = Array.from({ length: USERS }, () => randomUUID());
  const [greedy = '', ...others] = users;
  const of = (userId: string): Launch => ({
    ...{ workloadId: randomUUID(), attempt: 1, behaviour: 'run', userId, spec: testSpec('idle') },
    placement: { accelerator: 'NVIDIA_H100_80GB', count: 1 },
    nodes: 1,
    ...{
      server: { base_url: 'http://127.0.0.1:1', token: 'secret' },
      serverKey: 'key',
      deploymentId: null,
      devices: [],
    },
  });
  return [
    ...Array.from({ length: GREEDY_RUNS }, () => of(greedy)),
    ...others.flatMap((userId) => Array.from({ length: RUNS_EACH }, () => of(userId))),
  ];
}
