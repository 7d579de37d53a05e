import { createHash } from 'node:crypto';
import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import { sql } from 'kysely';
import type { Database } from '../../db/database.ts';
import { deleteBefore } from '../../db/retention/delete-before.ts';

/** Maximum number of callers per limit; the least recently seen one is dropped. */
const CALLERS_MAX = 50_000;
const EXCHANGE_MS = 500;
const EXCHANGED_MAX = 1_000;

type Sent = { bucket: string; calls: number; windowMs: number };

/** A caller's calls in the current window: `own` are not in the database yet, `shared` are. */
type Count = { bucket: string; windowMs: number; own: number; shared: number; endsAt: number };

export type SharedCounts = {
  Store: FastifyRateLimitStoreCtor;
  close: () => void;
};

type Options = { name?: string; isExact?: boolean };

/**
 * Counts calls in windows that all web processes share. Each process counts in memory and exchanges its
 * counts through PostgreSQL twice a second, so no call waits for the database. Within that half second each
 * process may accept as many calls as the limit permits. Limits with `isExact` count in the database before
 * each call instead. While the database is unavailable, a process applies the limits to its own calls, and
 * calls with an exact limit fail.
 */
export function shareCounts(db: Database, webProcesses: () => number): SharedCounts {
  const exchange = openExchange(db);
  const parts = { db, exchange, webProcesses };
  class Store extends LimitCounts {
    constructor(options: Options) {
      super(parts, options);
    }
  }
  return { Store, close: exchange.close };
}

type Parts = { db: Database; exchange: ReturnType<typeof openExchange>; webProcesses: () => number };

/** Sends changed counts to the database and reads those of all processes, within half a second. */
function openExchange(db: Database) {
  const unsent = new Set<Count>();
  let timer: NodeJS.Timeout | undefined;

  const exchange = async () => {
    const batch = [...unsent].slice(0, EXCHANGED_MAX);
    const sent = batch.map(({ bucket, own, windowMs }) => ({ bucket, calls: own, windowMs }));
    for (const count of batch) {
      unsent.delete(count);
      Object.assign(count, { own: 0, shared: count.shared + count.own });
    }
    const counted = await addCounts(db, sent);
    for (const count of batch) {
      const row = counted.get(count.bucket);
      if (row) Object.assign(count, { shared: row.calls, endsAt: performance.now() + row.leftMs });
    }
  };
  const exchangeSoon = () => {
    timer ??= setTimeout(() => {
      exchange()
        // Other processes miss these calls, and queries that matter report the failure.
        .catch(() => undefined)
        .finally(() => {
          timer = undefined;
          if (unsent.size > 0) exchangeSoon();
        });
    }, EXCHANGE_MS).unref();
  };
  return {
    send: (count: Count) => {
      unsent.add(count);
      exchangeSoon();
    },
    drop: (count: Count) => unsent.delete(count),
    close: () => clearTimeout(timer),
  };
}

/** One limit's counts, as the rate limit plugin requires them. */
class LimitCounts implements FastifyRateLimitStore {
  readonly #parts: Parts;
  readonly #name: string;
  readonly #isExact: boolean;
  readonly #counts = new Map<string, Count>();

  constructor(parts: Parts, { name = '', isExact = false }: Options) {
    this.#parts = parts;
    this.#name = name;
    this.#isExact = isExact;
  }

  child(options: object): LimitCounts {
    return new LimitCounts(this.#parts, options);
  }

  incr(
    key: string,
    done: (error: Error | null, counted?: { current: number; ttl: number }) => void,
    windowMs = 0,
  ): void {
    if (!this.#isExact) {
      const count = this.#countLocally(key, windowMs);
      done(null, { current: count.shared + count.own, ttl: count.endsAt - performance.now() });
      return;
    }
    const bucket = bucketOf(this.#name, key);
    addCounts(this.#parts.db, [{ bucket, calls: 1, windowMs }]).then((counted) => {
      const { calls, leftMs } = counted.get(bucket) ?? { calls: 1, leftMs: windowMs };
      done(null, { current: calls, ttl: leftMs });
    }, done);
  }

  #countLocally(key: string, windowMs: number): Count {
    const now = performance.now();
    const count = this.#counts.get(key) ?? {
      ...{ bucket: bucketOf(this.#name, key), windowMs, own: 0, shared: 0, endsAt: 0 },
    };
    if (count.endsAt <= now) Object.assign(count, { own: 0, shared: 0, endsAt: now + windowMs });
    count.own += 1;
    // The map's order is that of the last calls.
    this.#counts.delete(key);
    this.#counts.set(key, count);
    if (this.#counts.size > CALLERS_MAX) this.#dropOldest();
    if (this.#parts.webProcesses() > 1) this.#parts.exchange.send(count);
    return count;
  }

  #dropOldest(): void {
    for (const [key, count] of this.#counts) {
      this.#counts.delete(key);
      this.#parts.exchange.drop(count);
      return;
    }
  }
}

/** Deletes counts whose window ended before `time`. */
export function deleteRateCounts(db: Database, time: Date): Promise<void> {
  return deleteBefore(db, 'rate_counts', { column: 'ends_at', time });
}

/** Hashes the key, because it may be an email address. */
function bucketOf(limit: string, key: string): string {
  return `${limit} ${createHash('sha256').update(key).digest('base64url')}`;
}

/** Adds calls to the current windows. Returns each window's calls of all processes and its remaining time. */
async function addCounts(
  db: Database,
  sent: Sent[],
): Promise<Map<string, { calls: number; leftMs: number }>> {
  // In the same order in every process, so that two statements never wait for each other.
  const sorted = sent.toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1));
  const { rows } = await sql<{ bucket: string; calls: number; leftMs: number }>`
    insert into rate_counts as counted (bucket, calls, ends_at)
    select bucket, calls, now() + window_ms * interval '1 millisecond'
    from unnest(
      ${sorted.map(({ bucket }) => bucket)}::text[],
      ${sorted.map(({ calls }) => calls)}::integer[],
      ${sorted.map(({ windowMs }) => windowMs)}::integer[]
    ) as sent (bucket, calls, window_ms)
    on conflict (bucket) do update set
      calls = excluded.calls + case when counted.ends_at > now() then counted.calls else 0 end,
      ends_at = case when counted.ends_at > now() then counted.ends_at else excluded.ends_at end
    returning bucket, calls, (extract(epoch from ends_at - now()) * 1000)::float8 as "leftMs"
  `.execute(db);
  return new Map(rows.map(({ bucket, ...row }) => [bucket, row]));
}
