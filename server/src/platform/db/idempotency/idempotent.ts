import { createHash } from 'node:crypto';
import { AppError, invalidParam } from '../../errors.ts';
import { type Database, type Transaction, toJson } from '../database.ts';
import { inTransaction } from '../in-transaction.ts';

type Call = {
  userId: string;
  /** The caller's Idempotency-Key; null if `work` may run each time. */
  key: string | null;
  /** Name of the operation. A key must not be used for two operations. */
  operation: string;
  /** Input of the call, without the key. */
  input: unknown;
};

/**
 * Runs `work` at most once per user and key. The answer is stored in the same transaction, so it exists if
 * and only if the work was committed. A repeated call returns the stored answer; if the first call is still
 * running, the repeated one waits for it. Throws AppError('idempotency_conflict') if the key was used with
 * another input or operation. The answer must be JSON without bigint.
 */
export async function idempotent<Answer extends object | null>(
  tx: Transaction,
  { userId, key, operation, input }: Call,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (key === null) return work();
  assertUsableKey(key);
  const input_sha256 = createHash('sha256').update(canonicalJson(input)).digest();
  const inserted = await tx
    .insertInto('idempotency_keys')
    .values({ user_id: userId, key, operation, input_sha256: input_sha256.toString('hex') })
    .onConflict((conflict) => conflict.columns(['user_id', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst();

  if (inserted) {
    const answer = await work();
    await tx
      .updateTable('idempotency_keys')
      .set({ answer: toJson(answer) })
      .where('user_id', '=', userId)
      .where('key', '=', key)
      .execute();
    return answer;
  }

  const first = await tx
    .selectFrom('idempotency_keys')
    .select(['operation', 'input_sha256', 'answer'])
    .where('user_id', '=', userId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  if (first.operation !== operation || first.input_sha256 !== input_sha256.toString('hex')) {
    throw idempotencyConflict();
  }
  return first.answer as Answer;
}

/**
 * Like `idempotent`, but in its own transaction, and for work that must first prepare something, such as
 * reading files. A repeated call prepares nothing.
 */
export async function preparedIdempotent<Prepared, Answer extends object | null>(
  db: Database,
  call: Call,
  prepare: () => Promise<Prepared>,
  work: (tx: Transaction, prepared: Prepared) => Promise<Answer>,
): Promise<Answer> {
  const prepared = (await hasAnswer(db, call)) ? null : { value: await prepare() };
  return inTransaction(db, (tx) =>
    // Prepare now if the stored answer has expired since the check.
    idempotent(tx, call, async () => work(tx, prepared ? prepared.value : await prepare())),
  );
}

async function hasAnswer(db: Database, { userId, key }: Call): Promise<boolean> {
  if (key === null) return false;
  const row = await db
    .selectFrom('idempotency_keys')
    .select('key')
    .where('user_id', '=', userId)
    .where('key', '=', key)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the error for a key that was used with another call before. */
export function idempotencyConflict(): AppError {
  return new AppError('idempotency_conflict', {
    publicMessage: 'This Idempotency-Key was already used for another request. Send a new key',
    param: 'Idempotency-Key',
  });
}

/** Throws AppError('invalid_request') unless the key has 1 to 255 characters. */
export function assertUsableKey(key: string): void {
  if (key.length >= 1 && key.length <= 255) return;
  throw invalidParam('Idempotency-Key', 'Idempotency-Key must have 1 to 255 characters');
}

/** Returns the same text for equal values, whatever the order of their keys. */
function canonicalJson(value: unknown): string {
  return toJson(sortKeys(value));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sortKeys(item)]),
  );
}
