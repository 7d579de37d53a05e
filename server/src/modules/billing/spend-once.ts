import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { preparedIdempotent } from '../../platform/db/idempotency/idempotent.ts';
import { type IdleCredit, withIdleCredit } from './usage/with-idle-credit.ts';

/**
 * Runs a call that spends credits in its own transaction, at most once per Idempotency-Key
 * (`preparedIdempotent`). If the credit is not enough, closes idle usage windows and retries
 * (`withIdleCredit`). `prepare` runs at most once, because the body of a request cannot be read again.
 */
export async function spendOnce<Prepared, Answer extends object | null>(
  { db, caller, idempotencyKey }: Pick<Context, 'db' | 'caller' | 'idempotencyKey'>,
  usage: IdleCredit,
  asked: { operation: string; input: unknown },
  prepare: () => Promise<Prepared>,
  work: (tx: Transaction, prepared: Prepared) => Promise<Answer>,
): Promise<Answer> {
  const { userId } = caller;
  let prepared: Promise<Prepared> | null = null;
  const prepareOnce = () => {
    prepared ??= prepare();
    return prepared;
  };
  const call = { userId, key: idempotencyKey, ...asked };
  return withIdleCredit(usage, userId, () => preparedIdempotent(db, call, prepareOnce, work));
}
