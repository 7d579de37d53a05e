import { randomUUID } from 'node:crypto';
import { smallerAmount } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { hold, settle } from '../credits/ledger/holds/holds.ts';

/** Background work has a deadline of one day. */
const WINDOW_MS = 24 * 60 * 60_000;
/** The hold outlives the work, so that its last answers are charged. */
const SLACK_MS = 2 * 60 * 60_000;

type Asked = {
  /** The maximum cost in micro-BGL. A hold has at least 1. */
  highestMicro: bigint;
  model: string;
  description: string;
  /** The prefix of the hold's key: `draft:…`. */
  name: string;
};

/** Returns the amount to hold for answers that start at `now`, and their expiry. */
export function termsOf(highestMicro: bigint, now: Date) {
  return {
    held_micro: highestMicro > 0n ? highestMicro : 1n,
    created_at: now,
    expires_at: new Date(now.getTime() + WINDOW_MS),
  };
}

/** Step: holds the maximum cost of answers. Throws AppError 'insufficient_funds' and 'budget_exceeded'. */
export async function holdForAnswers(
  tx: Transaction,
  { caller: { userId, key }, clock }: Pick<Context, 'clock'> & { caller: Context['caller'] },
  { highestMicro, model, description, name }: Asked,
) {
  const { held_micro: heldMicro, expires_at: expiresAt } = termsOf(highestMicro, clock.now());
  const { holdId } = await hold(tx, {
    userId,
    amountMicro: heldMicro,
    kind: 'llm_inference',
    description,
    references: { asset_name: model, ...(key && { key_id: key.id }) },
    expiresAt: new Date(expiresAt.getTime() + SLACK_MS),
    idempotencyKey: `${name}:${randomUUID()}`,
  });
  return { hold_id: holdId, held_micro: heldMicro, expires_at: expiresAt };
}

/** Step: charges the cost of answers. Charges nothing if the hold expired while no server was running. */
export async function chargeAnswers(
  tx: Transaction,
  {
    hold_id: holdId,
    held_micro: held,
    cost_micro: cost,
  }: { hold_id: string | null; held_micro: bigint; cost_micro: bigint },
): Promise<void> {
  if (holdId === null) throw new Error('Row has no hold');
  await settle(tx, { holdId, amountMicro: smallerAmount(cost, held) }).catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
  });
}
