import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ApiError, type Cluster } from './cluster.ts';

/** The fields of an API object that a watch needs. */
export type ApiObject = { metadata: { name: string; resourceVersion?: string } };

/** Continuously updated objects of one kind. */
export type Watched<T> = {
  /** Whether the initial list is complete. */
  isComplete: () => boolean;
  get: (name: string) => T | undefined;
  values: () => Iterable<T>;
  /** Adds an object that was just created, before the watch sees it. */
  put: (object: T) => void;
  close: () => Promise<void>;
};

type Options<T> = {
  cluster: Cluster;
  /** Path of the collection, such as `/apis/batch/v1/namespaces/bakehouse/jobs`. */
  path: string;
  labelSelector?: string;
  /** Returns only the part of an object that is stored, because there are thousands of objects. */
  keep: (object: T) => T;
  /** Called after each change; `after` is undefined for a deleted object, `before` for a new one. */
  onChange: (after: T | undefined, before: T | undefined) => void;
  log: Logger;
  pauses?: { firstMs: number; longestMs: number };
};

type List<T> = { items: T[]; metadata: { resourceVersion: string; continue?: string } };
type Event<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: T };

const PAGE = 500;
/** Range of the random timeout that each watch requests; the API server then ends the watch. */
const WATCH_S = { least: 240, most: 480 };
/** A watch that is silent for this long is broken: the API server sends a bookmark about every minute. */
const SILENT_MS_MAX = 150_000;
/**
 * If a watch received nothing for this long, the resource version is not usable. Longer than the interval
 * between bookmarks.
 */
const BOOKMARK_MS = 120_000;
/** Average interval between lists, which find changes that a watch missed, such as a restore. */
const RELIST_MS = 30 * 60_000;
const WARN_AFTER_MS = 120_000;
/** The resource version has expired, or the API server has not reached it yet. */
const UNKNOWN_POSITION = new Set([400, 410, 504]);
const pausesByDefault = { firstMs: 500, longestMs: 30_000 };

/**
 * Lists a collection and then watches its changes. After a disconnect the watch resumes from the last
 * bookmark. The collection is listed again if the resource version is unknown, after an outage, and
 * periodically. Pauses between failed requests grow.
 */
export function watchObjects<T extends ApiObject>(options: Options<T>): Watched<T> {
  return new ObjectWatch(options);
}

class ObjectWatch<T extends ApiObject> implements Watched<T> {
  private readonly objects = new Map<string, T>();
  /** Objects that were put since the last list started, so the list may not contain them. */
  private readonly fresh = new Set<string>();
  private readonly closing = new AbortController();
  private readonly options: Options<T>;
  private readonly pauses: NonNullable<Options<T>['pauses']>;
  private readonly selected: string;
  private readonly running: Promise<void>;
  private hasListed = false;
  /** Whether the current watch has received a response. */
  private hasOpened = false;
  /** Resource version to resume from; null to relist. */
  private position: string | null = null;
  private pauseMs: number;
  private listAt = 0;
  private heardAt = performance.now();
  private hasWarned = false;

  constructor(options: Options<T>) {
    this.options = options;
    this.pauses = options.pauses ?? pausesByDefault;
    this.pauseMs = this.pauses.firstMs;
    const { labelSelector } = options;
    this.selected = labelSelector ? `labelSelector=${encodeURIComponent(labelSelector)}&` : '';
    this.running = this.run();
  }

  isComplete(): boolean {
    return this.hasListed;
  }

  get(name: string): T | undefined {
    return this.objects.get(name);
  }

  values(): Iterable<T> {
    return this.objects.values();
  }

  put(object: T): void {
    this.fresh.add(object.metadata.name);
    this.applyObject(object);
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      const startedAt = performance.now();
      let askedMs = 0;
      try {
        if (this.position === null || performance.now() > this.listAt) this.position = await this.list();
        await this.follow();
        // No events or bookmarks: the API server is behind our resource version, so relist.
        if (this.isDeaf(startedAt)) this.position = null;
        if (performance.now() - startedAt > this.pauses.firstMs) continue;
      } catch (error) {
        if (signal.aborted) return;
        const isUnknown = error instanceof ApiError && UNKNOWN_POSITION.has(error.status);
        if (isUnknown || this.isDeaf(startedAt) || this.wasAway(error)) this.position = null;
        this.recordFailure(error);
        // Jitter, so that clients that were rejected together do not retry together.
        if (error instanceof ApiError) askedMs = error.retryAfterMs * (1 + 0.1 * Math.random());
      }
      await sleep(Math.max(askedMs, this.pauseMs * (0.5 + Math.random())), null, { signal }).catch(
        () => undefined,
      );
      this.pauseMs = Math.min(this.pauseMs * 2, this.pauses.longestMs);
    }
  }

  private isDeaf(since: number): boolean {
    return this.heardAt < since && performance.now() - since > BOOKMARK_MS;
  }

  /**
   * True if the API server did not respond. List again after such an outage, because the server may have been
   * restored to an older state, which a resumed watch would not show.
   */
  private wasAway(error: unknown): boolean {
    return !this.hasOpened && !(error instanceof ApiError && error.status < 500);
  }

  /** Ignore transient failures; warn once if the outage persists. */
  private recordFailure(error: unknown): void {
    const { log, path } = this.options;
    log.debug({ err: error, path }, 'watch disconnected');
    if (this.hasWarned || performance.now() - this.heardAt < WARN_AFTER_MS) return;
    this.hasWarned = true;
    log.warn({ err: error, path }, 'failed to watch the cluster');
  }

  private async list(): Promise<string> {
    const { cluster, path } = this.options;
    const seen = new Set<string>();
    this.fresh.clear();
    let next = '';
    for (;;) {
      const page = await cluster.call<List<T>>(
        'GET',
        `${path}?${this.selected}limit=${PAGE}&continue=${next}`,
      );
      for (const object of page.items) {
        seen.add(object.metadata.name);
        if (!this.fresh.has(object.metadata.name)) this.applyObject(object);
      }
      next = encodeURIComponent(page.metadata.continue ?? '');
      if (next !== '') continue;
      for (const name of [...this.objects.keys()])
        if (!seen.has(name) && !this.fresh.has(name)) this.drop(name);
      this.hasListed = true;
      this.listAt = performance.now() + RELIST_MS * (0.5 + Math.random());
      return page.metadata.resourceVersion;
    }
  }

  /** Reads one connection from the current resource version to its end. */
  private async follow(): Promise<void> {
    const { cluster, path } = this.options;
    const seconds = Math.round(WATCH_S.least + Math.random() * (WATCH_S.most - WATCH_S.least));
    const query = `${this.selected}watch=1&allowWatchBookmarks=true&resourceVersion=${this.position}&timeoutSeconds=${seconds}`;
    this.hasOpened = false;
    await cluster.readLines(`${path}?${query}`, (line) => this.hear(JSON.parse(line) as Event<T>), {
      ...{ silentMsMax: SILENT_MS_MAX, signal: this.closing.signal },
      onOpen: () => {
        this.hasOpened = true;
      },
    });
  }

  private hear({ type, object }: Event<T>): void {
    if (type === 'ERROR') {
      const { code = 500, message = 'the watch failed' } = object as { code?: number; message?: string };
      throw new ApiError(code, message);
    }
    if (type === 'DELETED') this.drop(object.metadata.name, object);
    else if (type !== 'BOOKMARK') this.applyObject(object);
    this.position = object.metadata.resourceVersion ?? this.position;
    this.pauseMs = this.pauses.firstMs;
    this.heardAt = performance.now();
    this.hasWarned = false;
  }

  private applyObject(object: T): void {
    const before = this.objects.get(object.metadata.name);
    const after = this.options.keep(object);
    this.objects.set(object.metadata.name, after);
    this.options.onChange(after, before);
  }

  private drop(name: string, last?: T): void {
    const before = this.objects.get(name);
    if (!before) return;
    this.objects.delete(name);
    this.options.onChange(undefined, last ? this.options.keep(last) : before);
  }
}
