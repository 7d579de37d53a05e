import type { Logger } from 'pino';
import type { AttemptId, Launch } from '../driver.ts';
import { attemptJob, attemptSecret, type JobPlace, type PodSettings, tokenHash } from './attempt-job.ts';
import { attemptPolicy, attemptService } from './attempt-network.ts';
import { ApiError, type Cluster } from './cluster.ts';
import { localQueue, type queueOf } from './kueue.ts';
import {
  attemptName,
  ENDED_BY_ANNOTATION,
  type Job,
  nodeCountOf,
  TOKEN_ANNOTATION,
  WORKLOAD_LABEL,
} from './objects.ts';
import { pathsOf } from './paths.ts';
import type { Eviction } from './tracked-attempts.ts';

/** Makes and deletes the objects of attempts. Every call may be repeated. */
export class AttemptObjects {
  private readonly cluster: Cluster;
  private readonly log: Logger;
  private readonly paths: ReturnType<typeof pathsOf>;
  /** When each was last made sure of. */
  private readonly queues = new Map<string, number>();
  private readonly closing = new Set<string>();
  /** Jobs whose pods can find each other, by their uids. */
  private readonly connected = new Set<string>();

  constructor(cluster: Cluster, log: Logger) {
    this.cluster = cluster;
    this.log = log;
    this.paths = pathsOf(cluster.namespace);
  }

  /** Makes the Secret and the Job of an attempt; null where it has them already. */
  async create(launch: Launch, settings: PodSettings, place: JobPlace): Promise<Job | null> {
    if (!(await this.createOnce(launch, this.paths.secrets, attemptSecret(launch)))) return null;
    const made = await this.createOnce(launch, this.paths.jobs, attemptJob(launch, settings, place));
    // Nothing waits for it: until then the Secret goes when the workload's files do.
    if (made)
      this.giveToJob(made).catch((error: unknown) =>
        this.log.warn(
          { err: error, workload_id: launch.workloadId },
          'a Secret could not be given to its Job',
        ),
      );
    if (made) await this.connect(made);
    return made;
  }

  /**
   * Makes what lets the pods of a Job on several nodes find and ask each other, where this process has not yet: whoever
   * made the Job may have died before.
   */
  async connect(job: Job): Promise<void> {
    const { uid } = job.metadata;
    if (nodeCountOf(job) === 1 || uid === undefined || this.connected.has(uid)) return;
    await unlessThere(this.cluster.call('POST', this.paths.services, attemptService(job)));
    await unlessThere(this.cluster.call('POST', this.paths.networkPolicies, attemptPolicy(job)));
    this.connected.add(uid);
  }

  /** Whether the API server has its Job, whatever the watch has seen. */
  async isThere({ id, attempt }: AttemptId): Promise<boolean> {
    return (await this.find(attemptName(id, attempt))) !== null;
  }

  /** Its pod is asked to end, and has its time for that. */
  stop({ id, attempt }: AttemptId): Promise<void> {
    const name = attemptName(id, attempt);
    return unlessGone(
      this.cluster.call('DELETE', `${this.paths.jobs}/${name}`, { propagationPolicy: 'Foreground' }),
    );
  }

  /** @param pods Their names, as far as it has some. */
  async kill(attempt: AttemptId, pods: string[]): Promise<void> {
    await this.stop(attempt);
    for (const pod of pods)
      await unlessGone(this.cluster.call('DELETE', `${this.paths.pods}/${pod}`, { gracePeriodSeconds: 0 }));
  }

  /** A Job that Kueue may let in again is deleted while its pod saves its work: its token is of one pod. */
  async closeEvicted({ id, attempt, by }: Eviction): Promise<void> {
    const name = attemptName(id, attempt);
    if (this.closing.has(name)) return;
    this.closing.add(name);
    try {
      const annotations = { [ENDED_BY_ANNOTATION]: by };
      await unlessGone(
        this.cluster.call('PATCH', `${this.paths.jobs}/${name}`, { metadata: { annotations } }),
      );
      await this.stop({ id, attempt });
    } catch (error) {
      this.log.warn({ err: error, workload_id: id }, 'the Job of an evicted attempt could not be deleted');
    } finally {
      this.closing.delete(name);
    }
  }

  /** All that is left of a workload. */
  async removeAll(workloadId: string): Promise<void> {
    const all = `labelSelector=${WORKLOAD_LABEL}=${workloadId}`;
    await this.cluster.call('DELETE', `${this.paths.jobs}?${all}`, { propagationPolicy: 'Background' });
    await this.cluster.call('DELETE', `${this.paths.secrets}?${all}`);
  }

  /** Makes a user's own queue, unless that was done within `knownMs`. */
  async ensureQueue(
    { name, clusterQueue }: ReturnType<typeof queueOf>,
    knownMs = Number.POSITIVE_INFINITY,
  ): Promise<string> {
    const madeAt = this.queues.get(name) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - madeAt < knownMs) return name;
    await unlessThere(this.cluster.call('POST', this.paths.localQueues, localQueue(name, clusterQueue)));
    this.queues.set(name, performance.now());
    return name;
  }

  /**
   * Creates an object of the attempt; null where this very attempt has its Job already. One of the same number with
   * another token is of a database that was set back: it is deleted, and the engine makes the next attempt.
   */
  private async createOnce(launch: Launch, path: string, object: object): Promise<Job | null> {
    const { workloadId, attempt } = launch;
    const name = attemptName(workloadId, attempt);
    try {
      return await this.cluster.call<Job>('POST', path, object);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    }
    const there = await this.find(name);
    if (there?.metadata.annotations?.[TOKEN_ANNOTATION] === tokenHash(launch)) return null;
    await this.stop({ id: workloadId, attempt });
    await unlessGone(this.cluster.call('DELETE', `${this.paths.secrets}/${name}`));
    throw new Error(`${name} was made before with another token: it is deleted`);
  }

  private find(name: string): Promise<Job | null> {
    return this.cluster.call<Job>('GET', `${this.paths.jobs}/${name}`).catch(nullIfGone);
  }

  /** The Secret goes with its Job. */
  private giveToJob({ metadata: { name, uid } }: Job): Promise<unknown> {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid };
    return this.cluster.call('PATCH', `${this.paths.secrets}/${name}`, {
      metadata: { ownerReferences: [owner] },
    });
  }
}

function nullIfGone(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null;
  throw error;
}

async function unlessThere(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 409) throw error;
  });
}

async function unlessGone(call: Promise<unknown>): Promise<void> {
  await call.catch(nullIfGone);
}
