import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { LeaseLost } from '../../platform/leases/hold-lease.ts';
import type { Lease, LeasedTable } from '../../platform/leases/leased-table.ts';
import { underLease } from '../../platform/leases/under-lease.ts';
import { openRequests } from '../chat/admit-request.ts';
import { chargeAnswers } from './hold-for-answers.ts';

/** Requests of a piece of work that are answered at once. */
const AT_ONCE = 4;
/** How often it is looked whether anybody asks by themselves. */
const LOOK_MS = 200;

type End = { outcome: 'completed' | 'cancelled' | 'failed'; error: string | null };

type AskedRow = Parameters<typeof chargeAnswers>[1] & {
  error: string | null;
  cancelled_at: Date | null;
  expires_at: Date | null;
};

type Asking<Columns, Row, Request, Answer> = {
  table: LeasedTable<Columns, Row>;
  lease: Lease<Row>;
  /** The first requests that were not asked yet. */
  open: (row: Row, limit: number) => Promise<Request[]>;
  ask: (row: Row, requests: Request[]) => Promise<Answer[]>;
  /** Step: keeps answers, and what they cost with them. */
  keep: (tx: Transaction, row: Row, answers: Answer[]) => Promise<void>;
  /** Step: notes how it has ended; its answers are charged with that. */
  noteEnd: (tx: Transaction, row: Row, end: End & { ended_at: Date }) => Promise<void>;
  /** Why it failed that a day did not suffice for. */
  late: string;
};

/**
 * Has the requests of a leased row answered, a few at a time and while nobody else asks, until all are, it was cancelled, its
 * time is over or the model answers nothing. Answers and what they cost are kept together under the lease: killed anywhere,
 * what was not kept is asked again and was not charged. Throws LeaseLost.
 */
export async function answerInTurns<
  Columns,
  Row extends AskedRow,
  Request,
  Answer extends { error: string | null },
>(
  { db, clock }: Services,
  signal: AbortSignal,
  { table, lease, open, ask, keep, noteEnd, late }: Asking<Columns, Row, Request, Answer>,
): Promise<void> {
  for (;;) {
    const row = await held(underLease(db, table, lease, async (_, now) => now));
    const requests = await open(row, AT_ONCE);
    let end = endBefore(row, requests.length, { now: clock.now(), late });
    if (!end && openRequests() > 0) {
      await pause(LOOK_MS, undefined, { signal });
      continue;
    }
    if (!end) {
      const answers = await ask(row, requests);
      await held(
        underLease(db, table, lease, async (tx, now) => {
          await keep(tx, now, answers);
          return true;
        }),
      );
      end = endAfter(answers);
    }
    if (!end) continue;
    const outcome = end;
    await held(
      underLease(db, table, lease, async (tx, now) => {
        await noteEnd(tx, now, { ...outcome, ended_at: clock.now() });
        await chargeAnswers(tx, now);
        return true;
      }),
    );
    return;
  }
}

async function held<Result>(result: Promise<Result | null>): Promise<Result> {
  const found = await result;
  if (found === null) throw new LeaseLost();
  return found;
}

/** How it ends before anything more is asked; null where it goes on. */
function endBefore(row: AskedRow, open: number, { now, late }: { now: Date; late: string }): End | null {
  const { error, cancelled_at: cancelledAt, expires_at: expiresAt } = row;
  if (open === 0) return { outcome: 'completed', error };
  if (cancelledAt !== null) return { outcome: 'cancelled', error };
  return expiresAt !== null && expiresAt <= now ? { outcome: 'failed', error: late } : null;
}

/** Where none of those that were asked at once got an answer, the next ones would not either. */
function endAfter(answers: readonly { error: string | null }[]): End | null {
  const error = answers.at(-1)?.error ?? null;
  return answers.every((answer) => answer.error !== null) ? { outcome: 'failed', error } : null;
}
