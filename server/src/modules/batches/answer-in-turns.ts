import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { LeaseLost, underLease } from '../../platform/leases/hold-lease.ts';
import { type Lease, type LeasedTable, releaseLeased } from '../../platform/leases/leased-table.ts';
import { canKeyRunModels } from '../accounts/keys/authenticate-key.ts';
import { openRequests } from '../chat/admit-request.ts';
import { chargeAnswers } from './hold-for-answers.ts';

/** Concurrent requests of a row. */
const AT_ONCE = 4;
/** After this time, it is the next row's turn. */
const TURN_MS = 10_000;
/** Interval of checks whether users' calls have been answered. */
const LOOK_MS = 200;
/** Maximum time for which requests wait for users' calls to end. */
const YIELD_MS = 10_000;

/** The time since when each table's rows have been waiting for users' calls. */
const waitingSince = new Map<string, number>();

type End = { outcome: 'completed' | 'cancelled' | 'expired'; error: string | null };
type Failure = { outcome: 'failed'; error: string };
type WriteEnd = (tx: Transaction, endedAt: Date) => Promise<void>;

type AskedRow = Parameters<typeof chargeAnswers>[1] & {
  key_id: string | null;
  error?: string | null;
  cancelled_at: Date | null;
  expires_at: Date | null;
};

type Asking<Columns, Row, Request, Answer, Failed extends Failure> = {
  table: LeasedTable<Columns, Row>;
  lease: Lease<Row>;
  /** Returns the first unanswered requests. */
  open: (row: Row, limit: number) => Promise<Request[]>;
  ask: (row: Row, requests: Request[]) => Promise<Answer[]>;
  /** Step: stores answers with their costs. */
  keep: (tx: Transaction, row: Row, answers: Answer[]) => Promise<void>;
  /** Returns the end after these answers, if no more are requested. */
  failure?: (answers: Answer[]) => Failed | null;
  /** Prepares the end outside of a transaction; returns the step that writes it. */
  prepareEnd: (row: Row, end: End | Failed) => Promise<WriteEnd>;
};

/** Returns the lease order of users' rows in turns, longest waiting user first. */
export function turnOrder(name: string, isUnderWay: RawBuilder<boolean>) {
  const lastTurn = sql`
    select max(check_at) from ${sql.table(name)} other
    where other.user_id = ${sql.ref(`${name}.user_id`)} and (${isUnderWay})`;
  return { due: isUnderWay, lookAgainMs: sql<number>`0`, order: sql`(${lastTurn}), check_at` };
}

/**
 * Gives a leased row a turn: requests its answers, a few at a time. While users' calls are open, it waits 10
 * seconds before each group. The row ends if all requests are answered, it was cancelled, its time or its API
 * key has ended, or the model fails. Answers and their costs are stored together under the lease: after a
 * crash, requests without a stored answer are repeated, and were not charged. Throws LeaseLost.
 */
export async function answerInTurns<
  Columns,
  Row extends AskedRow,
  Request,
  Answer,
  Failed extends Failure = never,
>(
  services: Services,
  signal: AbortSignal,
  asking: Asking<Columns, Row, Request, Answer, Failed>,
): Promise<void> {
  const { db, clock } = services;
  const { table, lease, open, ask, keep, failure, prepareEnd } = asking;
  const turnEnds = clock.now().getTime() + TURN_MS;
  do {
    const row = await held(underLease(db, table, lease, async (_, now) => now));
    const requests = await open(row, AT_ONCE);
    const end = await endOf(services, row, requests.length);
    if (end) return finish(services, asking, await prepareEnd(row, end));
    if (openRequests() > 0 && mustYield(table.name, clock.now().getTime())) {
      await pause(LOOK_MS, undefined, { signal });
      break;
    }
    waitingSince.delete(table.name);
    const answers = await ask(row, requests);
    await held(underLease(db, table, lease, (tx, now) => keep(tx, now, answers).then(() => true)));
    const failed = failure?.(answers) ?? null;
    if (failed) return finish(services, asking, await prepareEnd(row, failed));
  } while (clock.now().getTime() < turnEnds);
  await held(underLease(db, table, lease, (tx) => releaseLeased(tx, table, lease).then(() => true)));
}

/** Returns true while the rows of a table must wait for users' calls. */
function mustYield(table: string, now: number): boolean {
  const since = waitingSince.get(table) ?? now;
  waitingSince.set(table, since);
  return now - since < YIELD_MS;
}

async function finish<Columns, Row extends AskedRow>(
  { db, clock }: Services,
  { table, lease }: { table: LeasedTable<Columns, Row>; lease: Lease<Row> },
  write: WriteEnd,
): Promise<void> {
  waitingSince.delete(table.name);
  await held(
    underLease(db, table, lease, async (tx, now) => {
      await write(tx, clock.now());
      await chargeAnswers(tx, now);
      return true;
    }),
  );
}

async function held<Result>(result: Promise<Result | null>): Promise<Result> {
  const found = await result;
  if (found === null) throw new LeaseLost();
  return found;
}

/** Returns how the row ends before further requests; null if it continues. */
async function endOf({ db, clock }: Services, row: AskedRow, open: number): Promise<End | null> {
  const { error = null, cancelled_at: cancelledAt, expires_at: expiresAt, key_id: keyId } = row;
  if (open === 0) return { outcome: 'completed', error };
  if (cancelledAt !== null) return { outcome: 'cancelled', error };
  if (expiresAt !== null && expiresAt <= clock.now()) return { outcome: 'expired', error };
  return keyId && !(await canKeyRunModels(db, keyId, clock.now()))
    ? { outcome: 'cancelled', error: 'The API key that started it can no longer run models.' }
    : null;
}

/** Returns the last error if there was no answer: further requests would fail too. */
export function failureOfAll(answers: readonly { error: string | null }[]): Failure | null {
  const error = answers.every((answer) => answer.error !== null) ? answers.at(-1)?.error : null;
  return typeof error === 'string' ? { outcome: 'failed', error } : null;
}
