import { randomUUID } from 'node:crypto';
import type { OnboardingStep } from '@bakehouse/contract/accounts';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { deleteBefore } from '../../platform/db/retention/delete-before.ts';

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

/** How often this was noted of a user within the last hour. */
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

/** Replaces a password whose hash is still this one. False where it is not, and nothing was replaced. */
export async function replacePassword(
  db: Database,
  { userId, from, to, at }: { userId: string; from: string; to: string; at: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sign_in_methods')
    .set({ password: to, updated_at: at })
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .where('password', '=', from)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
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

/** Links for a new password that were asked for and not used; all but one where that is named. */
export async function deleteResetLinks(
  tx: Transaction,
  userId: string,
  { except }: { except?: string | undefined } = {},
): Promise<void> {
  await tx
    .deleteFrom('verifications')
    .where('value', '=', userId)
    .where('identifier', 'like', 'reset-password:%')
    .$if(except !== undefined, (links) => links.where('identifier', '!=', `reset-password:${except}`))
    .execute();
}

/** Who is asked for a new password by a link that opens at `now`. */
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

/**
 * Whether the user's address has been proven; undefined without such a user. Locks the row, so that proofs come one by
 * one. What refers to the user is not kept waiting: it may hold what whoever asks takes next, such as an API key.
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

/** Waits for all that is about to refer to the user, and keeps what would from then on waiting. */
export async function lockUser(tx: Transaction, userId: string): Promise<void> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forUpdate().execute();
}

/** Keeps the user from being deleted until the transaction ends. */
export async function shareUser(tx: Transaction, userId: string): Promise<void> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forKeyShare().execute();
}

/** False where the session has ended; it does not until the transaction ends. */
export async function shareSession(tx: Transaction, sessionId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', sessionId)
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** False where it is there already; waits for a transaction that is inserting the same one. */
export async function insertKnownAddress(tx: Transaction, mailboxHash: Buffer): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('known_addresses')
    .values({ mailbox_hash: mailboxHash })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function isKnownAddress(tx: Transaction, mailboxHash: Buffer): Promise<boolean> {
  const row = await tx
    .selectFrom('known_addresses')
    .select('mailbox_hash')
    .where('mailbox_hash', '=', mailboxHash)
    .executeTakeFirst();
  return row !== undefined;
}

export async function setReturning(tx: Transaction, userId: string): Promise<void> {
  await tx.updateTable('users').set({ is_returning: true }).where('id', '=', userId).execute();
}

export async function setAddressVerified(tx: Transaction, userId: string): Promise<void> {
  await tx.updateTable('users').set({ email_verified: true }).where('id', '=', userId).execute();
}

export async function deleteUserSessions(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute();
}

/** Sessions that have not expired, the last seen first. */
export async function listUserSessions(db: Database, userId: string, now: Date) {
  return db
    .selectFrom('sessions')
    .select(['id', 'user_agent', 'ip_address', 'created_at', 'updated_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .execute();
}

/** Ends one of the user's sessions, or all but one; answers how many. */
export async function deleteSessions(
  tx: Transaction,
  userId: string,
  { only, except }: { only?: string; except?: string | undefined },
): Promise<number> {
  let which = tx.deleteFrom('sessions').where('user_id', '=', userId);
  if (only !== undefined) which = which.where('id', '=', only);
  if (except !== undefined) which = which.where('id', '!=', except);
  return Number((await which.executeTakeFirst()).numDeletedRows);
}

export async function deleteExpiredSessions(db: Database, now: Date): Promise<void> {
  await deleteBefore(db, 'sessions', { column: 'expires_at', time: now });
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

/** Null for who has no password. */
export async function findPasswordHash(db: Database | Transaction, userId: string): Promise<string | null> {
  const row = await db
    .selectFrom('sign_in_methods')
    .select('password')
    .where('user_id', '=', userId)
    .where('provider_id', '=', 'credential')
    .executeTakeFirst();
  return row?.password ?? null;
}

/** Takes from a user's row all that says whose it was. */
export async function anonymiseUser(
  tx: Transaction,
  { userId, username, now }: { userId: string; username: string; now: Date },
): Promise<void> {
  await tx
    .updateTable('users')
    .set({
      username,
      name: 'Deleted user',
      // A domain that no mail reaches.
      email: `${username}@deleted.invalid`,
      email_verified: false,
      image: null,
      deleted_at: now,
    })
    .where('id', '=', userId)
    .execute();
}

export async function selectToPurge(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .orderBy('deleted_at')
    .execute();
  return rows.map(({ id }) => id);
}

export async function setPurged(tx: Transaction, userId: string, now: Date): Promise<void> {
  await tx.updateTable('users').set({ purged_at: now }).where('id', '=', userId).execute();
}

export async function deleteUserKeys(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('user_id', '=', userId).execute();
}

export async function deleteUserSteps(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('onboarding_steps').where('user_id', '=', userId).execute();
}

/** Ids of the users whose verified address is one of these. */
export async function selectVerifiedUsers(tx: Transaction, emails: string[]): Promise<string[]> {
  const rows = await tx
    .selectFrom('users')
    .select('id')
    .where('email', 'in', emails)
    .where('email_verified', '=', true)
    .execute();
  return rows.map(({ id }) => id);
}
