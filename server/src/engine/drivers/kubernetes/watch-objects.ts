import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { ApiError, type Cluster } from './cluster.ts';

/** An object of the API, as far as following it needs. */
export type ApiObject = { metadata: { name: string; resourceVersion?: string } };

/** What is known of the objects of one kind, kept up to date. */
export type Watched<T> = {
  /** Whether all there are have been listed once. */
  isComplete: () => boolean;
  get: (name: string) => T | undefined;
  values: () => Iterable<T>;
  /** One that was just made, which the watch may not have seen yet. */
  put: (object: T) => void;
  close: () => Promise<void>;
};

type Options<T> = {
  cluster: Cluster;
  /** Of the collection, such as `/apis/batch/v1/namespaces/bakehouse/jobs`. */
  path: string;
  labelSelector?: string;
  /** What is kept of each: thousands of them are. */
  keep: (object: T) => T;
  /** After each change; `after` is undefined where it is gone, `before` where it is new. */
  onChange: (after: T | undefined, before: T | undefined) => void;
  log: Logger;
  pauses?: { firstMs: number; longestMs: number };
};

type List<T> = { items: T[]; metadata: { resourceVersion: string; continue?: string } };
type Event<T> = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'; object: T };

const PAGE = 500;
/** The API server ends each watch by then, so that what is silent for longer is broken. */
const WATCH_S = { least: 240, most: 480 };
/** It sends a bookmark about each minute. */
const SILENT_MS_MAX = 150_000;
/** Longer than from one bookmark to the next. */
const BOOKMARK_MS = 120_000;
/** A list besides, for what a watch has passed over without knowing, as where the API server was set back. */
const RELIST_MS = 30 * 60_000;
const WARN_AFTER_MS = 120_000;
/** Gone, and not there yet. */
const UNKNOWN_POSITION = new Set([400, 410, 504]);
const pausesByDefault = { firstMs: 500, longestMs: 30_000 };

/**
 * Lists the objects of a collection and follows their changes: from a bookmark on where the connection ends, from a new
 * list where the API server does not know that or was away, and now and then besides. Pauses grow while it fails.
 */
export function watchObjects<T extends ApiObject>(options: Options<T>): Watched<T> {
  return new ObjectWatch(options);
}

class ObjectWatch<T extends ApiObject> implements Watched<T> {
  private readonly objects = new Map<string, T>();
  /** What was put since the last list began, which that need not have. */
  private readonly fresh = new Set<string>();
  private readonly closing = new AbortController();
  private readonly options: Options<T>;
  private readonly pauses: NonNullable<Options<T>['pauses']>;
  private readonly selected: string;
  private readonly running: Promise<void>;
  private hasListed = false;
  /** Whether the present watch was answered. */
  private hasOpened = false;
  /** From where to go on; null: it is listed anew. */
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
    this.take(object);
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
        // Nothing in all that time, not even a bookmark: it waits for a position that it does not have yet.
        if (this.isDeaf(startedAt)) this.position = null;
        if (performance.now() - startedAt > this.pauses.firstMs) continue;
      } catch (error) {
        if (signal.aborted) return;
        const isUnknown = error instanceof ApiError && UNKNOWN_POSITION.has(error.status);
        if (isUnknown || this.isDeaf(startedAt) || this.wasAway(error)) this.position = null;
        this.noteFailure(error);
        // Those that were refused together do not come back together.
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
   * Whether nobody answered. Who does so later may have been set back to before the position, and have passed it again since:
   * nothing but a list would show that.
   */
  private wasAway(error: unknown): boolean {
    return !this.hasOpened && !(error instanceof ApiError && error.status < 500);
  }

  /** Those that pass are no news; one that stays is an operator's business. */
  private noteFailure(error: unknown): void {
    const { log, path } = this.options;
    log.debug({ err: error, path }, 'a watch was cut');
    if (this.hasWarned || performance.now() - this.heardAt < WARN_AFTER_MS) return;
    this.hasWarned = true;
    log.warn({ err: error, path }, 'the cluster cannot be followed');
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
        if (!this.fresh.has(object.metadata.name)) this.take(object);
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

  /** Follows one connection from the position on to its end. */
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
    else if (type !== 'BOOKMARK') this.take(object);
    this.position = object.metadata.resourceVersion ?? this.position;
    this.pauseMs = this.pauses.firstMs;
    this.heardAt = performance.now();
    this.hasWarned = false;
  }

  private take(object: T): void {
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
