import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { LeaseLost, underLease } from '../../platform/leases/hold-lease.ts';
import type { LeasedWork } from '../../platform/leases/lease-loop.ts';
import { type Lease, releaseLeased } from '../../platform/leases/leased-table.ts';
import { canKeyRunModels } from '../accounts/keys/authenticate-key.ts';
import { openRequests } from '../chat/admit-request.ts';
import { endAnswers, type Progress, recordProgress } from './bulk-answers.ts';
import { type BulkChanges, type BulkColumns, type BulkKind, type BulkRow, bulkTable } from './bulk-table.ts';

/** Maximum concurrent requests of one row. */
const AT_ONCE = 4;
/** After this time, the turn passes to the next row. */
const TURN_MS = 10_000;
/** How often to check whether users' calls are still running. */
const LOOK_MS = 200;
/** Maximum time for which rows wait for users' calls, which have priority. */
const YIELD_MS = 10_000;

/** When the rows began to wait for users' calls; null if they are not waiting. */
let waitingSince: number | null = null;

type End = { outcome: 'completed' | 'cancelled' | 'expired' | 'failed'; error: string | null };

type Turn<Row, Request, Answer> = {
  lease: Lease<BulkRow>;
  signal: AbortSignal;
  /** Returns the first requests without an answer. */
  open: (row: Row, limit: number) => Promise<Request[]>;
  ask: (row: Row, requests: Request[]) => Promise<Answer[]>;
  /** Step: stores answers. */
  keep: (tx: Transaction, row: Row, answers: Answer[]) => Promise<Progress>;
  /** Returns an error if the answers show that further requests would fail too, which ends the row. */
  failure?: (answers: Answer[]) => string | null;
  /**
   * Prepares the row's end outside of a transaction, e.g. writes files. Returns a step that stores the result
   * in the ending transaction and returns the columns to update.
   */
  prepareEnd: (row: Row, end: End) => Promise<(tx: Transaction) => Promise<BulkChanges>>;
};

type Work = LeasedWork<BulkColumns, BulkRow>;

/** Returns the worker for leased rows, which runs the function for the row's kind. */
export function bulkWork(kinds: Record<BulkKind, Work['work']>): Work {
  return { table: bulkTable, work: (lease, signal) => kinds[lease.row.kind](lease, signal) };
}

/**
 * Gives a leased row a turn of 10 seconds: sends its requests, a few at a time. Before each group, it waits
 * up to 10 seconds for users' calls to finish. The row ends if all requests are answered, if it was
 * cancelled, if its deadline has passed, if its API key has ended, or if the model fails. Answers and their
 * costs are stored together under the lease. After a crash, requests without a stored answer are sent again;
 * they have not been charged. Throws LeaseLost.
 */
export async function answerInTurns<Row extends BulkRow, Request, Answer>(
  services: Services,
  { lease, signal, open, ask, keep, failure, prepareEnd }: Turn<Row, Request, Answer>,
): Promise<void> {
  const { db, clock } = services;
  // `bulkWork` passes only rows of the right kind.
  const locked = async (work: (tx: Transaction, row: Row) => Promise<void>): Promise<Row> => {
    const row = await underLease(db, bulkTable, lease, async (tx, now) => {
      await work(tx, now as Row);
      return now as Row;
    });
    if (row === null) throw new LeaseLost();
    return row;
  };
  const finish = async (row: Row, end: End) => {
    const write = await prepareEnd(row, end);
    waitingSince = null;
    await locked(async (tx, now) =>
      endAnswers(tx, now, { ...end, ended_at: clock.now(), ...(await write(tx)) }),
    );
  };
  const turnEnds = clock.now().getTime() + TURN_MS;
  do {
    const row = await locked(async () => {});
    const requests = await open(row, AT_ONCE);
    const end = await endOf(services, row, requests.length);
    if (end) return finish(row, end);
    if (openRequests() > 0 && mustYield(clock.now().getTime())) {
      await pause(LOOK_MS, undefined, { signal });
      break;
    }
    waitingSince = null;
    const answers = await ask(row, requests);
    await locked(async (tx, now) => recordProgress(tx, now, await keep(tx, now, answers)));
    const error = failure?.(answers) ?? null;
    if (error !== null) return finish(row, { outcome: 'failed', error });
  } while (clock.now().getTime() < turnEnds);
  await locked((tx) => releaseLeased(tx, bulkTable, lease));
}

/** Returns true if rows must keep waiting for users' calls. */
function mustYield(now: number): boolean {
  waitingSince ??= now;
  return now - waitingSince < YIELD_MS;
}

/** Returns how the row ends if no further requests are to be sent; null if it continues. */
async function endOf({ db, clock }: Services, row: BulkRow, open: number): Promise<End | null> {
  const { error, cancelled_at: cancelledAt, expires_at: expiresAt, key_id: keyId } = row;
  if (open === 0) return { outcome: 'completed', error };
  if (cancelledAt !== null) return { outcome: 'cancelled', error };
  if (expiresAt !== null && expiresAt <= clock.now()) return { outcome: 'expired', error };
  return keyId && !(await canKeyRunModels(db, keyId, clock.now()))
    ? { outcome: 'cancelled', error: 'The API key that started it can no longer run models.' }
    : null;
}
