import { EventEmitter, once } from 'node:events';
import { vi } from 'vitest';
import type { Queues } from '../../../../platform/cluster-settings.ts';
import { createLog } from '../../../../platform/log.ts';
import { onFileEnd } from '../../../../testing/on-file-end.ts';
import { testEngine } from '../../../testing/test-engine.ts';
import type { AttemptId, Launch } from '../../driver.ts';
import { openCluster } from '../cluster.ts';
import { createKubernetesDriver } from '../kubernetes-driver.ts';
import { rankOf } from '../objects.ts';
import { TEST_NAMESPACE } from './cluster-driver.ts';
import type { FakeApiserver } from './fake-apiserver.ts';
import { startFakeKubelet } from './fake-kubelet.ts';
import { holdable } from './holdable.ts';
import { type NodeScript, scriptRunner } from './script-runner.ts';

/** An end of an attempt, as seen by the engine. */
type SeenEnd = AttemptId & { state: string };

/**
 * A database, reconcilers for one cluster, and nodes whose pods report like the runtime. Records accepted
 * reports and observed ends.
 * @param nodes Returns the number of nodes of a workload.
 */
export async function clusterWorld(
  apiserver: Pick<FakeApiserver, 'kubeconfig' | 'setLogs'>,
  nodes: (workloadId: string) => number = () => 1,
) {
  const world = await testEngine();
  const open = async () => openCluster({ kubeconfig: apiserver.kubeconfig, namespace: TEST_NAMESPACE });
  const pods = new EventEmitter().setMaxListeners(0);
  const accepted: AttemptId[] = [];
  const ends: SeenEnd[] = [];
  world.onChange.mockImplementation(async (_tx, after, before) => {
    // Ignore attempts that have a slot but have not started: they cannot end.
    const hadBegun = before.devices !== null && before.attemptStartedAt !== null;
    if (hadBegun && after.devices === null)
      ends.push({ id: after.id, attempt: after.attempt, state: after.state });
  });

  const runner = scriptRunner(reporting(world.report, pods, accepted));
  apiserver.setLogs(runner.logs);

  async function node(nodeName: string) {
    const network = holdable(await open());
    const kubelet = startFakeKubelet({ cluster: network.cluster, nodeName, run: runner.run });
    onFileEnd(() => kubelet.close());
    return { ...network, admin: await open() };
  }

  async function reconciler(queues: Queues | null = null) {
    const process = holdable(await open());
    const driver = createKubernetesDriver({
      ...{ cluster: process.cluster, pods: { image: 'runtime:1', cudaImage: 'runtime-cuda:1', parts: {} } },
      ...{ cpuWork: true, queues, now: world.clock.now, outputEveryMs: 0 },
      log: createLog({ logLevel: 'silent', logFormat: 'json' }),
    });
    const start = async (given: Launch) => {
      const launch = { ...given, nodes: nodes(given.workloadId) };
      runner.remember(launch);
      await driver.start(launch);
    };
    let isClaimed = true;
    const engine = world.engineOn({ ...driver, start }, { mayWork: () => isClaimed });
    const close = onFileEnd(async () => {
      process.wake();
      process.hear();
      await driver.close();
    });
    await vi.waitFor(async () => {
      if ((await driver.blocker({ kind: 'train', engine: null })) !== null) throw new Error('not yet');
    });
    const loseClaim = () => {
      isClaimed = false;
    };
    return { ...process, driver, engine, loseClaim, close };
  }

  return {
    ...world,
    accepted,
    ends,
    node,
    reconciler,
    /** All processes send a report. With `exit`, they exit with that status instead. */
    tick: (exit?: number) => void pods.emit('tick', exit),
    attemptsOf: (id: string) => [
      ...new Set(accepted.filter((one) => one.id === id).map(({ attempt }) => attempt)),
    ],
  };
}

type Report = Awaited<ReturnType<typeof testEngine>>['report'];

/**
 * A process that reports at each tick and never exits on its own, even if its reports are rejected. Of
 * several nodes, only the first reports.
 */
function reporting(report: Report, pods: EventEmitter, accepted: AttemptId[]): NodeScript {
  return async (launch, { stop, killed, pod }) => {
    const send = async (said: Parameters<Report>[1]) => {
      if (rankOf(pod) > 0) return;
      await report(launch, said).then(
        () => void accepted.push({ id: launch.workloadId, attempt: launch.attempt }),
        () => undefined,
      );
    };
    for (let done = 0; ; done += 1) {
      await send({ type: 'progress', done, total: 1000, unit: 'steps', remaining_seconds: null });
      const tick = once(pods, 'tick', { signal: AbortSignal.any([stop, killed]) });
      const [exit] = (await tick.catch(() => [null])) as [number | null | undefined];
      if (killed.aborted) return 137;
      if (stop.aborted) break;
      if (typeof exit === 'number') return exit;
    }
    await send({ type: 'stopped', step: 1 });
    return 0;
  };
}
