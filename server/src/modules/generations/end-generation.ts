import { generators } from '@bakehouse/contract/generators/table';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { settle } from '../credits/ledger/holds/settle.ts';
import { notifyOfGeneration } from '../notifications/notify-of-generation.ts';
import { announceGeneration } from './announce-generation.ts';
import { deletePreview, type GenerationRow, updateGeneration } from './queries.ts';

type End = {
  state: 'completed' | 'failed' | 'cancelled';
  reason: string;
  /** True if it failed because the model refuses the request. */
  refused?: boolean;
  /** 0 if nothing was generated. */
  chargedMicro: bigint;
  now: Date;
};

/**
 * Step: ends a locked generation, charges for its outputs and releases the rest of the hold. Charges nothing
 * if the hold has already ended.
 */
export async function endGeneration(tx: Transaction, row: GenerationRow, end: End): Promise<void> {
  const ended = {
    state: end.state,
    reason: end.reason,
    refused: end.refused ?? false,
    ended_at: end.now,
    lock_token: null,
    locked_until: null,
  };
  await updateGeneration(tx, row.id, { ...ended, charged_micro: end.chargedMicro });
  await deletePreview(tx, row.id);
  await announceGeneration(tx, row, { queueMoved: true });
  await notifyOfGeneration(tx, {
    ...{ userId: row.user_id, generationId: row.id, generator: generators[row.generator].title },
    ...{ state: end.state, askedAt: row.created_at, endedAt: end.now },
  });
  try {
    // Lock the ledger last: it blocks the user's other calls.
    await settle(tx, { holdId: row.hold_id, amountMicro: end.chargedMicro });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    await updateGeneration(tx, row.id, { charged_micro: 0n });
  }
}
