import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import { grantGivenCredits } from './given-credits.ts';
import { callOnce } from './ledger-answers.ts';

/** Opens a new user's account if necessary, and posts the starting grant once if it is positive. */
export async function openUserAccount(
  tx: Transaction,
  input: { userId: string; grantMicro: bigint; sendable?: boolean; expiresAt?: Date | null },
): Promise<void> {
  const { userId, grantMicro } = input;
  const idempotencyKey = `starting-grant:${userId}`;
  const { granted } = await callOnce<{ granted: boolean }>(
    tx,
    sql`
      select exists (select from ledger_transfers where idempotency_key = ${idempotencyKey}) as granted,
        ledger_open_accounts(${[userId]})`,
  );
  if (granted || grantMicro === 0n) return;
  await grantGivenCredits(tx, {
    userId,
    amountMicro: grantMicro,
    description: 'Starting credits',
    idempotencyKey,
    sendable: input.sendable ?? false,
    expiresAt: input.expiresAt ?? null,
  });
}
