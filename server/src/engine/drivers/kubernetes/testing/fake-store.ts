import { randomUUID } from 'node:crypto';
import { INDEX_ANNOTATION } from '../objects.ts';

type Owner = { kind: string; name: string; uid: string };

export type FakeObject = {
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    creationTimestamp: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
    ownerReferences?: Owner[];
  };
  spec?: {
    suspend?: boolean;
    completionMode?: string;
    completions?: number;
    template?: { metadata: { annotations?: Record<string, string> }; spec: object };
    nodeName?: string;
  };
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
  stringData?: Record<string, string>;
  data?: Record<string, string>;
  /** Jobs only: whether its pods were created. */
  hadPod?: boolean;
};

export type Change = { version: number; collection: string; type: string; object: FakeObject };

type GivenObject = Omit<FakeObject, 'metadata'> & {
  metadata: Omit<FakeObject['metadata'], 'uid' | 'resourceVersion' | 'creationTimestamp'>;
};

/** Objects by collection, with the Job controller and the garbage collector. */
export class FakeStore {
  readonly history: Change[] = [];
  oldest = 0;
  onChange: (change: Change) => void = () => undefined;
  /** By collection, then by name. */
  private readonly objects = new Map<string, Map<string, FakeObject>>();
  private version = 0;

  list(kind: string): FakeObject[] {
    return [...this.objects]
      .filter(([collection]) => collection.endsWith(`/${kind}`))
      .flatMap(([, all]) => [...all.values()]);
  }

  change(kind: string, name: string, patch: object): void {
    const [collection] =
      [...this.objects].find(([place, all]) => place.endsWith(`/${kind}`) && all.has(name)) ?? [];
    if (!collection) throw new Error(`there is no ${kind} ${name}`);
    this.patch(collection, name, patch);
  }

  /** Invalidates old resource versions, like a restart of the API server or a long pause of a watcher. */
  forget(): void {
    this.version += 1;
    this.oldest = this.version;
    this.history.length = 0;
  }

  /**
   * Snapshots all objects. The returned function restores them without notifying watchers, like a restored
   * etcd.
   */
  keep(): () => void {
    const kept = structuredClone(this.objects);
    return () => {
      this.objects.clear();
      for (const [collection, all] of structuredClone(kept)) this.objects.set(collection, all);
    };
  }

  handle(method: string, url: URL, body: unknown): [number, unknown] {
    const { collection, name } = splitPath(url.pathname);
    const all = this.objects.get(collection) ?? new Map<string, FakeObject>();
    this.objects.set(collection, all);
    const selector = url.searchParams.get('labelSelector') ?? '';
    if (method === 'POST') return this.create(collection, body as GivenObject);
    if (name === '') {
      const items = [...all.values()].filter((object) => isSelected(object, selector));
      if (method === 'DELETE') for (const one of items) this.remove(collection, one.metadata.name, body);
      return [200, { items, metadata: { resourceVersion: String(this.version) } }];
    }
    const object = all.get(name);
    if (!object) return [404, { message: `${name} not found` }];
    if (method === 'PATCH') return [200, this.patch(collection, name, body as object)];
    if (method === 'DELETE') this.remove(collection, name, body);
    return [200, object];
  }

  private create(collection: string, given: GivenObject): [number, unknown] {
    const all = this.objects.get(collection);
    if (all?.has(given.metadata.name)) return [409, { message: `${given.metadata.name} already exists` }];
    const metadata = {
      ...given.metadata,
      ...{ uid: randomUUID(), resourceVersion: '', creationTimestamp: new Date().toISOString() },
    };
    const { stringData = {}, ...object } = given;
    const secrets = Object.entries(stringData).map(([key, value]) => [
      key,
      Buffer.from(value).toString('base64'),
    ]);
    const data = secrets.length > 0 && { data: Object.fromEntries(secrets) };
    return [201, this.write(collection, 'ADDED', { ...object, ...data, metadata })];
  }

  private patch(collection: string, name: string, patch: object): FakeObject {
    const before = this.objects.get(collection)?.get(name);
    return this.write(collection, 'MODIFIED', merge(before, patch) as FakeObject);
  }

  private write(collection: string, type: string, object: FakeObject): FakeObject {
    this.version += 1;
    const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(this.version) } };
    const all = this.objects.get(collection);
    if (type === 'DELETED') all?.delete(object.metadata.name);
    else all?.set(object.metadata.name, written);
    const change = { version: this.version, collection, type, object: written };
    this.history.push(change);
    this.onChange(change);
    queueMicrotask(() => this.control());
    return written;
  }

  /**
   * A pod is removed when its kubelet confirms it, or immediately without grace; a Job with foreground
   * deletion after its pods.
   */
  private remove(collection: string, name: string, options: unknown): void {
    const object = this.objects.get(collection)?.get(name);
    if (!object) return;
    const { gracePeriodSeconds, propagationPolicy } = (options ?? {}) as Record<string, unknown>;
    const isPod = collection.endsWith('/pods');
    const grace = (gracePeriodSeconds as number | undefined) ?? (isPod ? 30 : 0);
    if ((isPod && grace > 0) || propagationPolicy === 'Foreground') {
      if (!object.metadata.deletionTimestamp)
        this.patch(collection, name, { metadata: { deletionTimestamp: new Date().toISOString() } });
    } else this.write(collection, 'DELETED', object);
  }

  /** One pass of the Job controller and the garbage collector. */
  private control(): void {
    for (const [collection, jobs] of this.objects) {
      if (!collection.endsWith('/jobs')) continue;
      const pods = collection.replace('/apis/batch/v1', '/api/v1').replace(/jobs$/, 'pods');
      if (!this.objects.has(pods)) this.objects.set(pods, new Map());
      for (const job of jobs.values()) this.controlJob(collection, job, pods);
      this.collectGarbage(collection, pods);
      for (const kind of ['secrets', 'services'])
        this.collectGarbage(collection, pods.replace(/pods$/, kind));
      const policies = collection.replace('/apis/batch/v1', '/apis/networking.k8s.io/v1');
      this.collectGarbage(collection, policies.replace(/jobs$/, 'networkpolicies'));
    }
  }

  private controlJob(collection: string, job: FakeObject, podsPath: string): void {
    const { name, uid, deletionTimestamp } = job.metadata;
    const pods = [...(this.objects.get(podsPath)?.values() ?? [])].filter((pod) => ownerOf(pod)?.uid === uid);
    if (deletionTimestamp) {
      for (const pod of pods) this.remove(podsPath, pod.metadata.name, {});
      if (pods.length === 0) this.write(collection, 'DELETED', job);
      return;
    }
    const finish = (type: string) =>
      this.patch(collection, name, { status: { conditions: [{ type, status: 'True' }] } });
    if ((job.status?.conditions?.length ?? 0) > 0) return;
    if (job.spec?.suspend) {
      for (const pod of pods) this.remove(podsPath, pod.metadata.name, {});
      // A readmitted Job creates another pod.
      if (job.hadPod && pods.length === 0) this.patch(collection, name, { hadPod: false });
    } else if (pods.filter(hasSucceeded).length === countOf(job)) finish('Complete');
    else if (pods.some((pod) => hasFailed(pod, job)) || (job.hadPod && pods.length < countOf(job))) {
      finish('Failed');
      const living = pods.filter((pod) => !hasSucceeded(pod) && pod.status?.phase !== 'Failed');
      for (const pod of living) this.remove(podsPath, pod.metadata.name, {});
    } else if (pods.length === 0) {
      this.patch(collection, name, { hadPod: true });
      for (let index = 0; index < countOf(job); index += 1) this.createPod(podsPath, job, index);
    }
  }

  private createPod(
    podsPath: string,
    { metadata: { name, uid }, spec: given }: FakeObject,
    index: number,
  ): void {
    const { metadata, spec } = given?.template ?? { metadata: {}, spec: {} };
    const isIndexed = given?.completionMode === 'Indexed';
    const stem = isIndexed ? `${name}-${index}` : name;
    this.create(podsPath, {
      metadata: {
        ...metadata,
        name: `${stem}-${randomUUID().slice(0, 5)}`,
        ownerReferences: [{ kind: 'Job', name, uid }],
        ...(isIndexed && { annotations: { ...metadata.annotations, [INDEX_ANNOTATION]: String(index) } }),
      },
      spec: { ...spec, ...(isIndexed && { hostname: stem }), nodeName: 'fake' },
      status: { phase: 'Pending' },
    });
  }

  private collectGarbage(jobsPath: string, collection: string): void {
    const uids = new Set(
      [...(this.objects.get(jobsPath)?.values() ?? [])].map(({ metadata }) => metadata.uid),
    );
    for (const object of [...(this.objects.get(collection)?.values() ?? [])]) {
      const owner = ownerOf(object);
      if (owner && !uids.has(owner.uid)) this.remove(collection, object.metadata.name, {});
    }
  }
}

/** Returns the number of pods of a Job. */
function countOf({ spec }: FakeObject): number {
  return spec?.completions ?? 1;
}

function hasSucceeded({ status }: FakeObject): boolean {
  return status?.phase === 'Succeeded';
}

/** Like Kubernetes: in a Job with several pods, a pod counts as failed as soon as it is being deleted. */
function hasFailed(pod: FakeObject, job: FakeObject): boolean {
  const isDeleted = pod.metadata.deletionTimestamp !== undefined && countOf(job) > 1;
  return pod.status?.phase === 'Failed' || (isDeleted && !hasSucceeded(pod));
}

function ownerOf({ metadata }: FakeObject) {
  return metadata.ownerReferences?.find(({ kind }) => kind === 'Job');
}

/**
 * Splits a path such as `/…/jobs/a` into the collection `/…/jobs` and the name `a`. A status path has the
 * name of its object.
 */
function splitPath(pathname: string): { collection: string; name: string } {
  const parts = pathname.replace(/\/status$/, '').split('/');
  const at = parts.indexOf('namespaces');
  const kindAt = at === -1 ? 3 : at + 2;
  return { collection: parts.slice(0, kindAt + 1).join('/'), name: parts[kindAt + 1] ?? '' };
}

/** True if an object has the label of a selector. */
export function isSelected({ metadata }: FakeObject, selector: string): boolean {
  if (selector === '') return true;
  const [label = '', value] = selector.split('=');
  return metadata.labels?.[label] === value;
}

/** RFC 7386 merge patch. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const merged: Record<string, unknown> = { ...(target as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  }
  return merged;
}
