import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Services } from '../../../../platform/context.ts';
import { sqlStates } from '../../../../platform/postgres/sql-states.ts';
import { closeWindowRow, growHoldNow, openWindowRow, writeEvents } from '../../usage/usage-queries.ts';
import { revenueAccount, userAccount } from '../accounts.ts';
import { toBudgetExceeded } from '../holds/holds.ts';
import { at, findHold, type Outcome, type Run, type WindowMove } from './moves.ts';

/** Returns the cost of a window's n-th answer. Some answers are free. */
export const answerMicro = (n: number): bigint => BigInt((n * 3) % 7);

/**
 * Runs a move of a usage window. All test processes share one leader id. A move that returns 'busy' must be
 * retried.
 */
export async function applyWindowMove(
  services: Pick<Services, 'db' | 'pool'>,
  run: Run,
  move: WindowMove,
): Promise<Outcome> {
  try {
    return named(await step(services, run, move));
  } catch (error) {
    if (toBudgetExceeded(error)) return 'budget_exceeded';
    if (error instanceof pg.DatabaseError && error.code === sqlStates.lockNotAvailable) return 'busy';
    throw error;
  }
}

/** Maps the outcomes of SQL functions to the outcomes of TypeScript functions. */
function named(outcome: string): Outcome {
  return { replayed: 'ok', ended: 'conflict', not_found: 'mistake' }[outcome] ?? outcome;
}

async function step(services: Pick<Services, 'db' | 'pool'>, run: Run, move: WindowMove): Promise<string> {
  const windowId = run.windows[move.window] ?? '';
  switch (move.move) {
    case 'open':
      return (await open(services, run, { windowId, move })).outcome;
    case 'widen': {
      const holdId = await findHold(services.db, `usage:${windowId}`);
      return (await growHoldNow(services, { holdId, byMicro: move.by })).outcome;
    }
    case 'use': {
      const events = Array.from({ length: move.answers }, (_, i) => ({
        n: move.from + i,
        id: randomUUID(),
        at: at(move.from + i),
        amountMicro: answerMicro(move.from + i),
        quantities: { completion_tokens: move.from + i },
      }));
      const [written] = await writeEvents(services, run.leaderId, [{ window: windowId, events }]);
      if (written?.missing != null) return 'mistake';
      return written?.events == null ? 'closed' : 'ok';
    }
    case 'close':
      return (await closeWindowRow(services, { windowId, leaderId: run.leaderId, at: new Date() })).outcome;
  }
}

function open(
  services: Pick<Services, 'db' | 'pool'>,
  run: Run,
  { windowId, move }: { windowId: string; move: Extract<WindowMove, { move: 'open' }> },
) {
  const userId = run.users[move.user] ?? '';
  const keyId = (move.withKey && run.keys[move.user]) || null;
  return openWindowRow(services, {
    id: windowId,
    leaderId: run.leaderId,
    userId,
    keyId,
    source: 'model:crumb',
    at: at(0),
    debitAccountId: userAccount(userId),
    creditAccountId: revenueAccount('llm_inference'),
    amountMicro: move.amount,
    description: 'Tokens of crumb',
    references: { usage_window_id: windowId, ...(keyId && { key_id: keyId }) },
    expiresAt: at(move.minutes),
  });
}
