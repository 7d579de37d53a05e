import type { Services } from '../context.ts';
import type { Database, Transaction } from '../db/database.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { linkSignals } from '../link-signals.ts';
import { type Lease, type LeasedTable, lockLeased, renewLease } from './leased-table.ts';

/** A third of a lease, so that one failed renewal does no harm. */
const RENEW_EVERY_MS = 5_000;

const CHECK_EVERY_MS = 1_000;

/** Another process deleted, completed or leased the row. */
export class LeaseLost extends Error {}

/** Columns to write with a renewal. `onWritten` is called after the write. */
type News<Columns> = {
  values?: { [Name in keyof Columns & string]?: unknown };
  onWritten?: () => Promise<void>;
};

type LeaseServices = Pick<Services, 'db' | 'clock' | 'log'>;

type Held<Columns, Row> = { table: LeasedTable<Columns, Row>; lease: Pick<Lease<Row>, 'id' | 'token'> };

type Kept<Columns, Row> = Held<Columns, Row> & {
  /** Interval of renewals that have nothing else to write. */
  renewEveryMs?: number;
  /** Interval of calls to `readNews`. */
  checkEveryMs?: number;
  /** Returns what has changed since the last call and must be written, or null. */
  readNews?: () => News<Columns> | null;
};

export type RenewedLease = {
  /** Aborts with LeaseLost when the lease is lost. */
  lost: AbortSignal;
  /** Stops renewing. Nothing is written any more once it has resolved. */
  stop: () => Promise<void>;
};

/** Renews a lease until it is stopped. Writes news in the same statement as the renewal. */
export function renewLeasePeriodically<Columns, Row>(
  { db, clock, log }: LeaseServices,
  {
    table,
    lease,
    renewEveryMs = RENEW_EVERY_MS,
    checkEveryMs = CHECK_EVERY_MS,
    readNews = () => null,
  }: Kept<Columns, Row>,
): RenewedLease {
  const lost = new AbortController();
  let renewedAt = performance.now();
  let renewing: Promise<void> | null = null;

  async function renew(news: News<Columns> | null): Promise<void> {
    renewedAt = performance.now();
    const { values = {}, onWritten } = news ?? {};
    if (await renewLease(db, table, lease, { now: clock.now(), values })) await onWritten?.();
    else lost.abort(new LeaseLost());
  }

  const timer = setInterval(() => {
    // One renewal at a time, so that they do not pile up on a slow database.
    if (renewing) return;
    const news = readNews();
    if (news === null && performance.now() - renewedAt < renewEveryMs) return;
    renewing = renew(news)
      .catch((error: unknown) =>
        log.warn({ err: error, table: table.name, id: lease.id }, 'failed to renew a lease'),
      )
      .finally(() => {
        renewing = null;
      });
  }, checkEveryMs);

  return {
    lost: lost.signal,
    stop: async () => {
      clearInterval(timer);
      await renewing;
    },
  };
}

/** Renews a lease while `work` runs. The signal of `work` aborts with LeaseLost, or when `closing` does. */
export async function holdLease<Columns, Row, Result>(
  services: LeaseServices,
  { closing, ...held }: Held<Columns, Row> & { closing: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { lost, stop } = renewLeasePeriodically(services, held);
  using ended = linkSignals(lost, closing);
  try {
    return await work(ended.signal);
  } catch (error) {
    throw lost.aborted ? lost.reason : error;
  } finally {
    await stop();
  }
}

/** Runs `work` on the current row in a transaction. Returns null instead if the lease is lost. */
export async function underLease<Columns, Row, Result>(
  db: Database,
  table: LeasedTable<Columns, Row>,
  lease: Pick<Lease<Row>, 'id' | 'token'>,
  work: (tx: Transaction, row: Row) => Promise<Result>,
): Promise<Result | null> {
  return inTransaction(db, async (tx) => {
    const row = await lockLeased(tx, table, lease);
    return row ? work(tx, row) : null;
  });
}
