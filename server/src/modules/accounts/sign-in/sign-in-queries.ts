import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';

/** Writes a password's row in the sign-in library's format. */
export async function upsertPassword(
  tx: Transaction,
  { userId, passwordHash }: { userId: string; passwordHash: string },
): Promise<void> {
  await tx
    .insertInto('sign_in_methods')
    .values({
      id: randomUUID(),
      user_id: userId,
      provider_id: 'credential',
      account_id: userId,
      password: passwordHash,
    })
    .onConflict((conflict) =>
      conflict.columns(['provider_id', 'account_id']).doUpdateSet({ password: passwordHash }),
    )
    .execute();
}

/** Replaces the password if its hash is still `from`; returns false otherwise. */
export async function replacePassword(
  tx: Transaction,
  { userId, from, to, at }: { userId: string; from: string; to: string; at: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sign_in_methods')
    .set({ password: to, updated_at: at })
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .where('password', '=', from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Deletes the password. The user cannot sign in with one until a new password is set. */
export async function deletePassword(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('sign_in_methods')
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .execute();
}

/** Deletes the user's sign-in methods except the password. */
export async function deleteLinkedMethods(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('sign_in_methods')
    .where('user_id', '=', userId)
    .where('provider_id', '!=', 'credential')
    .execute();
}

/** Deletes the user's open reset links. */
export async function deleteResetLinks(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('verifications')
    .where('value', '=', userId)
    .where('identifier', 'like', 'reset-password:%')
    .execute();
}

/** Deletes a reset link; returns false if it does not exist. */
export async function deleteResetLink(tx: Transaction, link: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('verifications')
    .where('identifier', '=', `reset-password:${link}`)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the user of a reset link that is valid at `now`. */
export async function findUserOfResetLink(
  db: Database,
  link: string,
  now: Date,
): Promise<{ id: string; email: string } | undefined> {
  return db
    .selectFrom('verifications')
    .innerJoin('users', 'users.id', 'verifications.value')
    .select(['users.id', 'users.email'])
    .where('verifications.identifier', '=', `reset-password:${link}`)
    .where('verifications.expires_at', '>=', now)
    .executeTakeFirst();
}

export async function deleteExpiredVerifications(db: Database, now: Date): Promise<void> {
  await deleteBefore(db, 'verifications', { column: 'expires_at', time: now });
}

export async function selectSignInMethods(db: Database, userId: string) {
  return db
    .selectFrom('sign_in_methods')
    .select(['provider_id', 'created_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .execute();
}

export async function hasSignInMethod(tx: Transaction, userId: string, provider: string): Promise<boolean> {
  const row = await tx
    .selectFrom('sign_in_methods')
    .select('id')
    .where('user_id', '=', userId)
    .where('provider_id', '=', provider)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns the password's hash; null if the user has no password. */
export async function findPasswordHash(db: Database | Transaction, userId: string): Promise<string | null> {
  const row = await db
    .selectFrom('sign_in_methods')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .executeTakeFirst();
  return row?.password ?? null;
}
