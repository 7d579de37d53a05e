import { generators } from '@bakehouse/contract/generators/table';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { settle } from '../credits/ledger/holds/settle.ts';
import { notifyOfGeneration } from '../notifications/notify-of-generation.ts';
import { announceGeneration } from './announce-generation.ts';
import { type GenerationRow, updateGeneration } from './queries.ts';

type End = {
  state: 'completed' | 'failed' | 'cancelled';
  reason: string;
  /** Failed, since the model refuses what was asked for. */
  refused?: boolean;
  /** 0 for what made nothing. */
  chargedMicro: bigint;
  now: Date;
};

/**
 * Step: ends a locked generation, charges what it has made and gives the rest of the hold back. Where the hold has
 * ended before, nothing is charged.
 */
export async function endGeneration(tx: Transaction, row: GenerationRow, end: End): Promise<void> {
  const ended = {
    state: end.state,
    reason: end.reason,
    refused: end.refused ?? false,
    preview: null,
    ended_at: end.now,
    lock_token: null,
    locked_until: null,
  };
  const chargedMicro = await settleHold(tx, row.hold_id, end.chargedMicro);
  await updateGeneration(tx, row.id, { ...ended, charged_micro: chargedMicro });
  await announceGeneration(tx, row, { queueMoved: true });
  await notifyOfGeneration(tx, {
    ...{ userId: row.user_id, generationId: row.id, generator: generators[row.generator].title },
    ...{ state: end.state, askedAt: row.created_at, endedAt: end.now },
  });
}

async function settleHold(tx: Transaction, holdId: string, amountMicro: bigint): Promise<bigint> {
  try {
    await settle(tx, { holdId, amountMicro });
    return amountMicro;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return 0n;
    throw error;
  }
}
