import { randomUUID } from 'node:crypto';
import type { OnboardingStep } from '@bakehouse/contract/accounts';
import { sql } from 'kysely';
import type { Services } from '../../platform/context.ts';
import { type Database, type Transaction, toJson } from '../../platform/db/database.ts';
import { runPrepared } from '../../platform/db/run-prepared.ts';

type KeyOwner = { user_id: string; last_used_at: Date | null; email: string; email_verified: boolean };

/**
 * Owners of keys by their hashes, in their order. Every call begins with it. Undefined where the key
 * is nobody's.
 */
export async function findKeyOwners(
  services: Pick<Services, 'db' | 'pool'>,
  hashes: Buffer[],
): Promise<(KeyOwner | undefined)[]> {
  const rows = await runPrepared(
    services,
    'find_key_owners',
    sql<KeyOwner & { sha256: string }>`
      select encode(k.sha256, 'hex') as sha256, k.user_id, k.last_used_at, u.email, u.email_verified
      from api_keys k join users u on u.id = k.user_id where k.sha256 = any (${hashes})`,
  );
  const byHash = new Map(rows.map((row) => [row.sha256, row]));
  return hashes.map((hash) => byHash.get(hash.toString('hex')));
}

export async function setKeyLastUsed(db: Database, userId: string, at: Date): Promise<void> {
  await db.updateTable('api_keys').set({ last_used_at: at }).where('user_id', '=', userId).execute();
}

/** False when the user has a key already. */
export async function insertKey(
  tx: Transaction,
  key: { userId: string; sha256: Buffer; encrypted: Buffer },
): Promise<boolean> {
  const inserted = await tx
    .insertInto('api_keys')
    .values({ user_id: key.userId, sha256: key.sha256, encrypted: key.encrypted })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function replaceKey(
  tx: Transaction,
  key: { userId: string; sha256: Buffer; encrypted: Buffer },
): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ sha256: key.sha256, encrypted: key.encrypted, created_at: sql<Date>`now()`, last_used_at: null })
    .where('user_id', '=', key.userId)
    .execute();
}

export async function findEncryptedKey(db: Database, userId: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .select('encrypted')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.encrypted;
}

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
