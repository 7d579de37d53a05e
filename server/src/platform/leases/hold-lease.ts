import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { linkSignals } from '../link-signals.ts';
import { type Lease, type LeasedTable, renewLease } from './leased-table.ts';

/** A third of a lease: one renewal may fail. */
const RENEW_EVERY_MS = 5_000;

/** Somebody else has the row, or it is gone. */
export class LeaseLost extends Error {}

/** Keeps a lease for as long as `work` takes. Its signal aborts with LeaseLost where that cannot be, and with `closing`. */
export async function holdLease<Columns, Row, Result>(
  { db, clock, log }: { db: Database; clock: Clock; log: Logger },
  {
    table,
    lease,
    closing,
  }: { table: LeasedTable<Columns, Row>; lease: Pick<Lease<Row>, 'id' | 'token'>; closing: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lost = new AbortController();
  const renew = async () => {
    if (!(await renewLease(db, table, lease, { now: clock.now() }))) lost.abort(new LeaseLost());
  };
  const timer = setInterval(() => {
    renew().catch((error: unknown) => log.warn({ err: error }, 'a lease could not be renewed'));
  }, RENEW_EVERY_MS);
  using ended = linkSignals(lost.signal, closing);
  try {
    return await work(ended.signal);
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error;
  } finally {
    clearInterval(timer);
  }
}
