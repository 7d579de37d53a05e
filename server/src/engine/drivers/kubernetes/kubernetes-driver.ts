import { gpuLabel } from '@bakehouse/contract/labels';
import type { Logger } from 'pino';
import type { Queues } from '../../../platform/cluster-settings.ts';
import { shareResult } from '../../../platform/concurrency/share-result.ts';
import type { Observed } from '../../model/observed.ts';
import type { Offer } from '../../model/offer.ts';
import { type AttemptId, CannotStartError, type Driver, type Launch } from '../driver.ts';
import type { PodSettings } from './attempt-job.ts';
import { AttemptObjects } from './attempt-objects.ts';
import type { Cluster } from './cluster.ts';
import { followAttempts } from './follow-attempts.ts';
import { queueNamed, queueOf } from './kueue.ts';
import { type NodeCapacity, readNodes } from './node-capacity.ts';
import { attemptName, isFinished, type Node, nodeCountOf } from './objects.ts';
import { isOver } from './observe-attempt.ts';
import { describePlace, queuePlaces } from './queue-places.ts';
import { readOutput } from './read-output.ts';
import type { TrackedAttempts } from './tracked-attempts.ts';

type Options = {
  cluster: Cluster;
  pods: PodSettings;
  /** Whether the cluster also runs work without a GPU. */
  cpuWork: boolean;
  /** Kueue's queues; null if Kueue is not used. */
  queues: Queues | null;
  log: Logger;
  now: () => Date;
  /** Interval between reads of an attempt's output. The output is read once more when the attempt ends. */
  outputEveryMs?: number;
};

const NODES_KEPT_MS = 60_000;
/** Delay before a failed read is retried. */
const NODES_ASKED_MS = 5_000;
/** Delay between attempts to recreate a missing queue. */
const QUEUE_ASKED_MS = 10_000;
const OUTPUT_EVERY_MS = 30_000;
const OUT_OF_REACH = 'The cluster is out of reach.';

/** A driver that watches its cluster until it is closed. */
export type KubernetesDriver = Driver & {
  /** CPU resources of all nodes together. */
  cpu: () => Promise<Offer['cpu']>;
  close: () => Promise<void>;
};

/**
 * Runs each attempt as a Job, placed by the cluster's scheduler or queued by Kueue. State is read from
 * watched objects, so observing thousands of attempts costs no requests.
 */
export function createKubernetesDriver(options: Options): KubernetesDriver {
  const { cluster, log, now } = options;
  const listeners: ((workloadId: string) => void)[] = [];
  const isComplete = () => followed.isComplete();
  const objects = new AttemptObjects(cluster, log);
  const followed = followAttempts({
    ...{ cluster, log, now, kueue: options.queues !== null },
    onChange: (workloadId) => void listeners.map((listener) => listener(workloadId)),
    // Do not act on evictions before the lists are complete: other objects of the attempt may be missing.
    onEviction: (eviction) => void (isComplete() && objects.closeEvicted(eviction)),
  });
  const { attempts } = followed;
  const nodes = nodesOf(options);
  const output = readOutput({ cluster, attempts, log, everyMs: options.outputEveryMs ?? OUTPUT_EVERY_MS });
  const places = options.queues && queuePlaces({ cluster, queues: options.queues, log });
  const kill = (one: AttemptId) =>
    objects.kill(
      one,
      attempts.pods(one.id, one.attempt).map(({ metadata }) => metadata.name),
    );
  const parts = { attempts, objects, places, kill };

  async function start(launch: Launch): Promise<void> {
    if (!isComplete()) throw new Error(OUT_OF_REACH);
    const { workloadId, attempt, placement } = launch;
    assertOpen(attempts, launch);
    await closeEarlier(parts, { id: workloadId, attempt });
    attempts.deleteEarlier(workloadId, attempt);
    const products = placement.accelerator === null ? [] : findProducts(await nodes(), placement.accelerator);
    const queue = options.queues && (await objects.ensureQueue(queueOf(options.queues, launch)));
    const made = await objects.create(launch, options.pods, { queue, products });
    if (made) followed.put(made);
    // The caller's lease may have expired during the call, and a later attempt may have started.
    if (isClosed(attempts, launch)) await kill({ id: workloadId, attempt });
    assertOpen(attempts, launch);
  }

  return {
    admission: 'driver',
    endsWithServer: false,
    capacity: async () => (await nodes()).capacity,
    cpu: async () => (await nodes()).cpu,
    blocker: async () => (isComplete() ? null : OUT_OF_REACH),
    start,
    observe: async (id, attempt) => {
      if (!isComplete()) throw new Error(OUT_OF_REACH);
      return observe(parts, { id, attempt });
    },
    tidy: (id, attempt) => tidy(parts, { id, attempt }),
    stop: (id, attempt) => objects.stop({ id, attempt }),
    kill: (id, attempt) => kill({ id, attempt }),
    logs: output.logs,
    output: output.output,
    list: async () => [...new Set(attempts.list().map(({ id }) => id))],
    listAlive: async () => attempts.listAlive(),
    remove: async (workloadId) => {
      for (const one of attempts.list(workloadId)) await kill(one);
      await objects.removeAll(workloadId);
      attempts.forget(workloadId);
      output.forget(workloadId);
    },
    onChange: (listener) => void listeners.push(listener),
    close: async () => {
      await followed.close();
      cluster.close();
    },
  };
}

type Parts = {
  attempts: TrackedAttempts;
  objects: AttemptObjects;
  places: ReturnType<typeof queuePlaces> | null;
  kill: (one: AttemptId) => Promise<void>;
};

async function observe({ attempts, objects, places }: Parts, one: AttemptId): Promise<Observed> {
  const observed = attempts.observe(one.id, one.attempt);
  if (places && attempts.isQueued(one))
    return withPlace(observed, places.find(attemptName(one.id, one.attempt)));
  // The watch may be behind if another process has just started the attempt.
  const isThere = observed.state === 'absent' && (await objects.isThere(one));
  return isThere ? { state: 'pending', reason: '' } : observed;
}

/** True if the attempt has ended but its Job may still create a pod, or still has a running pod. */
function isLeftBehind(attempts: TrackedAttempts, { id, attempt }: AttemptId): boolean {
  const job = attempts.job(id, attempt);
  const hasEnded = attempts.observe(id, attempt).state === 'ended';
  if (job === undefined || !hasEnded || isFinished(job)) return false;
  const pods = attempts.pods(id, attempt);
  const endsIt = pods.some(({ status }) => status?.phase === 'Failed');
  return !endsIt && (pods.length < nodeCountOf(job) || !pods.every(isOver));
}

async function tidy(parts: Parts, one: AttemptId): Promise<void> {
  const { attempts, objects, kill } = parts;
  // A start that was delayed in another process, or a restore of the API server, can make an earlier attempt
  // appear now.
  await closeEarlier(parts, one);
  const missing = attempts.missingQueue(one);
  if (missing !== null) await objects.ensureQueue(queueNamed(missing), QUEUE_ASKED_MS);
  const by = attempts.evicting(one);
  if (by) await objects.closeEvicted({ ...one, by });
  if (isLeftBehind(attempts, one)) await kill(one);
  const job = attempts.job(one.id, one.attempt);
  if (job && !isFinished(job)) await objects.connect(job);
}

async function closeEarlier({ attempts, kill }: Parts, { id, attempt }: AttemptId): Promise<void> {
  for (const other of attempts.listEarlier(id, attempt)) await kill(other);
}

/** @param place Number of Jobs ahead of this one in Kueue's queue; null if unknown. */
function withPlace(observed: Observed, place: number | null): Observed {
  if (observed.state !== 'pending' || observed.reason === '' || place === null) return observed;
  return { ...observed, reason: `${observed.reason.replace(/\.$/, '')}. ${describePlace(place)}` };
}

/** True if a later attempt has begun. */
function isClosed(attempts: TrackedAttempts, { workloadId, attempt }: Launch): boolean {
  return attempts.list(workloadId).some((other) => other.attempt > attempt);
}

function assertOpen(attempts: TrackedAttempts, launch: Launch): void {
  if (isClosed(attempts, launch)) throw new Error('The process did not begin');
}

/**
 * Returns the capacity of the nodes. Falls back to the last known capacity; throws if there is none, because
 * an empty offer would send work elsewhere.
 */
function nodesOf({ cluster, cpuWork, queues, log }: Options): () => Promise<NodeCapacity> {
  const told = new Set<string>();
  let last: { nodes: NodeCapacity; readAt: number } | null = null;
  return shareResult(async () => {
    if (last && performance.now() - last.readAt < NODES_KEPT_MS) return last.nodes;
    try {
      last = { nodes: readNodes(await listNodes(cluster), cpuWork, queues), readAt: performance.now() };
      for (const type of last.nodes.withoutQueue.filter((one) => !told.has(one))) {
        told.add(type);
        log.warn(
          `BAKEHOUSE_KUEUE_QUEUES has no queue for ${type}, a GPU type of this cluster, so its nodes get no workloads: add ${type}=QUEUE`,
        );
      }
    } catch (error) {
      log.warn({ err: error }, 'failed to read the nodes of the cluster');
      if (!last) throw new Error(OUT_OF_REACH, { cause: error });
    }
    return last.nodes;
  }, NODES_ASKED_MS);
}

/** Product labels of the nodes with the requested GPUs. */
function findProducts({ products }: NodeCapacity, accelerator: string): string[] {
  const found = products.get(accelerator);
  if (!found) throw new CannotStartError(`no node of the cluster has a ${gpuLabel(accelerator)} now`);
  return found;
}

async function listNodes(cluster: Cluster): Promise<Node[]> {
  const nodes: Node[] = [];
  let next = '';
  do {
    const page: { items: Node[]; metadata: { continue?: string } } = await cluster.call(
      'GET',
      `/api/v1/nodes?limit=500&continue=${encodeURIComponent(next)}`,
    );
    nodes.push(...page.items);
    next = page.metadata.continue ?? '';
  } while (next !== '');
  return nodes;
}
