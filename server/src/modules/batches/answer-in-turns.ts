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

/** Concurrent requests of a row. */
const AT_ONCE = 4;
/** After this time, it is the next row's turn. */
const TURN_MS = 10_000;
/** Interval of checks whether users' calls have been answered. */
const LOOK_MS = 200;
/** Maximum time for which requests wait for users' calls to end. */
const YIELD_MS = 10_000;

/** The time since when the rows have been waiting for users' calls. */
let waitingSince: number | null = null;

type End = { outcome: 'completed' | 'cancelled' | 'expired' | 'failed'; error: string | null };

type Turn<Row, Request, Answer> = {
  lease: Lease<BulkRow>;
  signal: AbortSignal;
  /** Returns the first unanswered requests. */
  open: (row: Row, limit: number) => Promise<Request[]>;
  ask: (row: Row, requests: Request[]) => Promise<Answer[]>;
  /** Step: stores answers. */
  keep: (tx: Transaction, row: Row, answers: Answer[]) => Promise<Progress>;
  /** Returns the error after which no more answers are requested. */
  failure?: (answers: Answer[]) => string | null;
  /** Prepares the end outside of a transaction; returns the step that writes it and returns its columns. */
  prepareEnd: (row: Row, end: End) => Promise<(tx: Transaction) => Promise<BulkChanges>>;
};

type Work = LeasedWork<BulkColumns, BulkRow>;

/** Returns the work on leased rows: a turn of the row's kind. */
export function bulkWork(kinds: Record<BulkKind, Work['work']>): Work {
  return { table: bulkTable, work: (lease, signal) => kinds[lease.row.kind](lease, signal) };
}

/**
 * Gives a leased row a turn: requests its answers, a few at a time. While users' calls are open, it waits 10
 * seconds before each group. The row ends if all requests are answered, it was cancelled, its time or its API
 * key has ended, or the model fails. Answers and their costs are stored together under the lease: after a
 * crash, requests without a stored answer are repeated, and were not charged. Throws LeaseLost.
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

/** Returns true while rows must wait for users' calls. */
function mustYield(now: number): boolean {
  waitingSince ??= now;
  return now - waitingSince < YIELD_MS;
}

/** Returns how the row ends before further requests; null if it continues. */
async function endOf({ db, clock }: Services, row: BulkRow, open: number): Promise<End | null> {
  const { error, cancelled_at: cancelledAt, expires_at: expiresAt, key_id: keyId } = row;
  if (open === 0) return { outcome: 'completed', error };
  if (cancelledAt !== null) return { outcome: 'cancelled', error };
  if (expiresAt !== null && expiresAt <= clock.now()) return { outcome: 'expired', error };
  return keyId && !(await canKeyRunModels(db, keyId, clock.now()))
    ? { outcome: 'cancelled', error: 'The API key that started it can no longer run models.' }
    : null;
}
