import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../../../platform/log.ts';
import { ApiError, type Cluster } from '../cluster.ts';
import type { Pod } from '../objects.ts';
import { type Watched, watchObjects } from '../watch-objects.ts';

/** Process in a pod. */
export type PodProcess = {
  /** Resolves to its status and the container's termination message. */
  ended: Promise<{ exitCode: number; message: string }>;
  stop: () => void;
  kill: () => void;
};

/** A pod with the fields of the Job's template. */
export type WholePod = Pod & {
  spec: {
    terminationGracePeriodSeconds?: number;
    hostname?: string;
    subdomain?: string;
    initContainers: PodContainer[];
    containers: PodContainer[];
    volumes: { name: string; secret?: { secretName: string } }[];
  };
};

export type PodContainer = {
  command: string[];
  env?: { name: string; value?: string; valueFrom?: { fieldRef: { fieldPath: string } } }[];
  volumeMounts: { name: string; mountPath: string }[];
};

type Options = {
  cluster: Cluster;
  nodeName: string;
  run: (pod: WholePod) => PodProcess;
};

/**
 * Runs the pods of a node with `run` and reports them like a kubelet: running with an address, stopped when
 * they are deleted, killed after their grace period, and deleted when they have ended.
 */
export function startFakeKubelet(options: Options): { close: () => Promise<void> } {
  return new FakeKubelet(options);
}

class FakeKubelet {
  private readonly options: Options;
  private readonly path: string;
  private readonly processes = new Map<string, PodProcess>();
  private readonly deleted = new Set<string>();
  private readonly watched: Watched<WholePod>;
  private isClosed = false;

  constructor(options: Options) {
    this.options = options;
    const { cluster } = options;
    this.path = `/api/v1/namespaces/${cluster.namespace}/pods`;
    this.watched = watchObjects<WholePod>({
      ...{ cluster, path: this.path, keep: (pod) => pod },
      onChange: (after, before) => this.update(after, before),
      log: createLog({ logLevel: 'silent', logFormat: 'json' }),
      pauses: { firstMs: 20, longestMs: 500 },
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.watched.close();
    for (const process of this.processes.values()) process.kill();
  }

  private update(after: WholePod | undefined, before: WholePod | undefined): void {
    const pod = after ?? before;
    if (pod?.spec.nodeName !== this.options.nodeName) return;
    const process = this.processes.get(pod.metadata.name);
    if (!after) {
      process?.kill();
      this.processes.delete(pod.metadata.name);
      this.deleted.delete(pod.metadata.name);
    } else if (after.metadata.deletionTimestamp) this.end(after, process);
    else if (!process && (after.status?.phase ?? 'Pending') === 'Pending') void this.begin(after);
    else if (!process && after.status?.phase === 'Running') void this.reportLost(pod.metadata.name);
  }

  private async begin(pod: WholePod): Promise<void> {
    const { name } = pod.metadata;
    const process = this.options.run(pod);
    this.processes.set(name, process);
    const startedAt = new Date().toISOString();
    await this.report(name, {
      ...{ phase: 'Running', podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }], startTime: startedAt },
      containerStatuses: [containerStatus({ running: { startedAt } })],
    });
    const { exitCode, message } = await process.ended;
    const finishedAt = new Date().toISOString();
    const terminated = { exitCode, message, finishedAt, reason: exitCode === 0 ? 'Completed' : 'Error' };
    await this.report(name, {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      containerStatuses: [containerStatus({ terminated })],
    });
    if (this.deleted.has(name)) await this.removePod(name);
  }

  private end({ metadata: { name }, spec, status }: WholePod, process: PodProcess | undefined): void {
    if (this.deleted.has(name)) return;
    this.deleted.add(name);
    const hasEnded = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    if (!process || hasEnded) {
      void this.removePod(name);
      return;
    }
    process.stop();
    setTimeout(() => process.kill(), (spec.terminationGracePeriodSeconds ?? 30) * 1000).unref();
  }

  /** Reports a pod that reappeared after a restore of the API server. */
  private reportLost(name: string): Promise<void> {
    const terminated = { exitCode: 137, reason: 'ContainerStatusUnknown', message: '' };
    return this.report(name, { phase: 'Failed', containerStatuses: [containerStatus({ terminated })] });
  }

  private report(name: string, status: object): Promise<void> {
    return this.insist('PATCH', `${this.path}/${name}/status`, { status });
  }

  private removePod(name: string): Promise<void> {
    return this.insist('DELETE', `${this.path}/${name}`, { gracePeriodSeconds: 0 });
  }

  /** Retries until the API server is back. A pod that was deleted in the meantime needs no report. */
  private async insist(method: 'PATCH' | 'DELETE', path: string, body: object): Promise<void> {
    while (!this.isClosed) {
      try {
        await this.options.cluster.call(method, path, body);
        return;
      } catch (error) {
        if (error instanceof ApiError && error.status < 429) return;
        await sleep(50);
      }
    }
  }
}

function containerStatus(state: object) {
  return {
    name: 'work',
    image: 'none',
    imageID: 'none',
    ready: 'running' in state,
    restartCount: 0,
    started: 'running' in state,
    state,
  };
}
