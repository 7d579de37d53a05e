import { randomUUID } from 'node:crypto';
import type { OnboardingStep } from '@bakehouse/contract/accounts';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';

export async function findUser(db: Database | Transaction, userId: string) {
  return db
    .selectFrom('users')
    .select(['id', 'username', 'name', 'email', 'image'])
    .where('id', '=', userId)
    .executeTakeFirst();
}

export async function isUsernameTaken(db: Database, username: string): Promise<boolean> {
  const row = await db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirst();
  return row !== undefined;
}

export async function listCompletedSteps(db: Database, userId: string): Promise<Set<string>> {
  const rows = await db.selectFrom('onboarding_steps').select('step').where('user_id', '=', userId).execute();
  return new Set(rows.map((row) => row.step));
}

export async function insertCompletedStep(
  tx: Transaction,
  userId: string,
  step: OnboardingStep,
): Promise<void> {
  await tx
    .insertInto('onboarding_steps')
    .values({ user_id: userId, step })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function insertAuditEntry(
  db: Database | Transaction,
  entry: { userId: string | null; action: string; detail: Record<string, string> },
): Promise<void> {
  await db
    .insertInto('audit_log')
    .values({ user_id: entry.userId, action: entry.action, detail: toJson(entry.detail) })
    .execute();
}

/** Id of the user with this address, which from now on counts as verified; made if there is none. */
export async function upsertVerifiedUser(tx: Transaction, email: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into users (id, name, email, email_verified) values (${randomUUID()}, ${email.slice(0, 200)}, ${email}, true)
    on conflict (email) do update set email_verified = true
    returning id`.execute(tx);
  const [user] = rows;
  if (user === undefined) throw new Error('The user was not inserted');
  return user.id;
}

/** The row that the sign-in library makes for a password. */
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

/** Afterwards nobody signs in with a password, until a new one is set. */
export async function deletePassword(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('sign_in_methods')
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .execute();
}

/** All but the password. */
export async function deleteLinkedMethods(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('sign_in_methods')
    .where('user_id', '=', userId)
    .where('provider_id', '!=', 'credential')
    .execute();
}

/** Links for a new password that were asked for and not used. */
export async function deleteResetLinks(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('verifications')
    .where('value', '=', userId)
    .where('identifier', 'like', 'reset-password:%')
    .execute();
}

/** Whether the user's address has been proven; undefined without such a user. Locks the row, so that proofs come one by one. */
export async function lockAddress(
  tx: Transaction,
  userId: string,
): Promise<{ email: string; email_verified: boolean } | undefined> {
  return tx
    .selectFrom('users')
    .select(['email', 'email_verified'])
    .where('id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
}

export async function setAddressVerified(tx: Transaction, userId: string): Promise<void> {
  await tx.updateTable('users').set({ email_verified: true }).where('id', '=', userId).execute();
}

export async function deleteUserSessions(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute();
}

export async function deleteExpiredSessions(db: Database, now: Date): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<', now).execute();
}

export async function deleteExpiredVerifications(db: Database, now: Date): Promise<void> {
  await db.deleteFrom('verifications').where('expires_at', '<', now).execute();
}
