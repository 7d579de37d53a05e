import { randomUUID } from 'node:crypto';
import type { OnboardingStep } from '@bakehouse/contract/accounts';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';

/* The SQL of users, onboarding steps and the audit log. */

export async function findUser(db: Database | Transaction, userId: string) {
  return db
    .selectFrom('users')
    .select([
      'id',
      'username',
      'name',
      'email',
      'email_verified',
      'image',
      'onboarding_dismissed_at',
      'is_returning',
    ])
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

export async function setOnboardingDismissed(db: Database, userId: string, at: Date | null): Promise<void> {
  await db.updateTable('users').set({ onboarding_dismissed_at: at }).where('id', '=', userId).execute();
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

/** Returns how often the audit log recorded this action of the user within the last hour. */
export async function countRecentAudit(tx: Transaction, userId: string, action: string): Promise<number> {
  const { count } = await tx
    .selectFrom('audit_log')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('user_id', '=', userId)
    .where('action', '=', action)
    .where('at', '>', sql<Date>`now() - interval '1 hour'`)
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the id of the user with this address, now verified. Creates the user if necessary. */
export async function upsertVerifiedUser(tx: Transaction, email: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into users (id, name, email, email_verified) values (${randomUUID()}, ${email.slice(0, 200)}, ${email}, true)
    on conflict (email) do update set email_verified = true
    returning id`.execute(tx);
  const [user] = rows;
  if (user === undefined) throw new Error('User insert returned no row');
  return user.id;
}

/**
 * Returns the user's address and whether it is verified; undefined if there is no such user. Locks the row
 * until the transaction ends. Other transactions can still insert rows that refer to the user; blocking them
 * would risk deadlocks.
 */
export async function lockAddress(
  tx: Transaction,
  userId: string,
): Promise<{ email: string; email_verified: boolean } | undefined> {
  return tx
    .selectFrom('users')
    .select(['email', 'email_verified'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** Locks the user's row. Waits for running inserts of rows that refer to the user, and blocks new ones. */
export async function lockUser(tx: Transaction, userId: string): Promise<void> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
}

/** Prevents the user's deletion until the transaction ends. */
export async function lockUserAgainstDeletion(tx: Transaction, userId: string): Promise<void> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forKeyShare().execute();
}

export async function setAddressVerified(tx: Transaction, userId: string): Promise<void> {
  await tx.updateTable('users').set({ email_verified: true }).where('id', '=', userId).execute();
}

/** Returns the ids of users with one of these verified addresses. */
export async function selectVerifiedUsers(tx: Transaction, emails: string[]): Promise<string[]> {
  const rows = await tx
    .selectFrom('users')
    .select('id')
    .where('email', 'in', emails)
    .where('email_verified', '=', true)
    .execute();
  return rows.map(({ id }) => id);
}

/** Removes all identifying data from a user's row. */
export async function anonymiseUser(
  tx: Transaction,
  { userId, username, now }: { userId: string; username: string; now: Date },
): Promise<void> {
  await tx
    .updateTable('users')
    .set({
      username,
      name: 'Deleted user',
      // A domain that receives no mail.
      email: `${username}@deleted.invalid`,
      email_verified: false,
      image: null,
      deleted_at: now,
    })
    .where('id', '=', userId)
    .execute();
}
