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

/** Creates and deletes the objects of attempts. Every call is idempotent. */
export class AttemptObjects {
  private readonly cluster: Cluster;
  private readonly log: Logger;
  private readonly paths: ReturnType<typeof pathsOf>;
  /** When this process last ensured that each queue exists, by name. */
  private readonly queues = new Map<string, number>();
  private readonly closing = new Set<string>();
  /** Uids of Jobs whose Service and NetworkPolicy exist. */
  private readonly connected = new Set<string>();

  constructor(cluster: Cluster, log: Logger) {
    this.cluster = cluster;
    this.log = log;
    this.paths = pathsOf(cluster.namespace);
  }

  /** Creates the Secret and the Job of an attempt; returns null if they already exist. */
  async create(launch: Launch, settings: PodSettings, place: JobPlace): Promise<Job | null> {
    if (!(await this.createOnce(launch, this.paths.secrets, attemptSecret(launch)))) return null;
    const made = await this.createOnce(launch, this.paths.jobs, attemptJob(launch, settings, place));
    // Not awaited: if this fails, the Secret remains until the workload's files are deleted.
    if (made)
      this.setOwnerJob(made).catch((error: unknown) =>
        this.log.warn({ err: error, workload_id: launch.workloadId }, 'failed to set the owner of a Secret'),
      );
    if (made) await this.connect(made);
    return made;
  }

  /**
   * Creates the Service and NetworkPolicy of a multi-node Job, once per process. Also needed for Jobs of
   * other processes, which may have died before they created these objects.
   */
  async connect(job: Job): Promise<void> {
    const { uid } = job.metadata;
    if (nodeCountOf(job) === 1 || uid === undefined || this.connected.has(uid)) return;
    await unlessThere(this.cluster.call('POST', this.paths.services, attemptService(job)));
    await unlessThere(this.cluster.call('POST', this.paths.networkPolicies, attemptPolicy(job)));
    this.connected.add(uid);
  }

  /** Asks the API server, because the watch may be behind. */
  async isThere({ id, attempt }: AttemptId): Promise<boolean> {
    return (await this.find(attemptName(id, attempt))) !== null;
  }

  /** Deletes the Job; its pod gets its grace period. */
  stop({ id, attempt }: AttemptId): Promise<void> {
    const name = attemptName(id, attempt);
    return unlessGone(
      this.cluster.call('DELETE', `${this.paths.jobs}/${name}`, { propagationPolicy: 'Foreground' }),
    );
  }

  /** @param pods Names of the known pods. */
  async kill(attempt: AttemptId, pods: string[]): Promise<void> {
    await this.stop(attempt);
    for (const pod of pods)
      await unlessGone(this.cluster.call('DELETE', `${this.paths.pods}/${pod}`, { gracePeriodSeconds: 0 }));
  }

  /** Deletes an evicted Job while its pod saves its work, so that Kueue does not readmit it. */
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
      this.log.warn({ err: error, workload_id: id }, 'failed to delete the Job of an evicted attempt');
    } finally {
      this.closing.delete(name);
    }
  }

  /** Deletes all objects of a workload. */
  async removeAll(workloadId: string): Promise<void> {
    const all = `labelSelector=${WORKLOAD_LABEL}=${workloadId}`;
    await this.cluster.call('DELETE', `${this.paths.jobs}?${all}`, { propagationPolicy: 'Background' });
    await this.cluster.call('DELETE', `${this.paths.secrets}?${all}`);
  }

  /** Ensures that a user's queue exists; skipped if that was done within `knownMs`. */
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
   * Creates an object of the attempt; returns null if the attempt already has its Job. A Job with this name
   * but another token is left from before a database restore. It is deleted and an error is thrown, so that
   * the engine starts the next attempt.
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
    throw new Error(`deleting ${name}, which has another token`);
  }

  private find(name: string): Promise<Job | null> {
    return this.cluster.call<Job>('GET', `${this.paths.jobs}/${name}`).catch(nullIfGone);
  }

  /** Makes the Job the owner of the Secret, so that both are deleted together. */
  private setOwnerJob({ metadata: { name, uid } }: Job): Promise<unknown> {
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
