import { sql } from 'kysely';
import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { selectVerifiedUsers } from './queries.ts';
import { findPasswordHash, selectSignInMethods } from './sign-in/sign-in-queries.ts';

/* Steps and queries about users, their keys and the audit log, for other modules. */

/** Returns the address of a user. */
export async function findEmail(db: Database, userId: string): Promise<string> {
  const { email } = await db
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return email;
}

/** Returns true if the account exists and was not deleted. */
export async function accountExists(db: Database, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Returns the user's name as other users may see it: null if it is an email address, undefined for a deleted
 * account.
 */
export async function findPublicName(
  db: Database,
  userId: string,
): Promise<{ name: string | null } | undefined> {
  const user = await db
    .selectFrom('users')
    .select('name')
    .where('id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return user && { name: user.name.includes('@') ? null : user.name };
}

/** Returns the account with this username, unless it was deleted. */
export async function findUserByName(
  db: Database | Transaction,
  username: string,
): Promise<{ id: string; username: string } | undefined> {
  return db
    .selectFrom('users')
    .select(['id', 'username'])
    .where('username', '=', username)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
}

/** Step: returns the ids of operators with an account (`isOperator`). */
export async function listOperators(tx: Transaction, config: Config): Promise<string[]> {
  if (config.operators.length === 0) return [];
  return selectVerifiedUsers(tx, config.operators);
}

/** Returns true if the user can sign in with a password. */
export async function hasPassword(db: Database, userId: string): Promise<boolean> {
  return (await findPasswordHash(db, userId)) !== null;
}

/** Returns the user's sign-in methods without their secrets; `credential` is a password. */
export async function listSignInMethods(
  db: Database,
  userId: string,
): Promise<{ provider: string; linked_at: string }[]> {
  const rows = await selectSignInMethods(db, userId);
  return rows.map((row) => ({ provider: row.provider_id, linked_at: row.created_at.toISOString() }));
}

/** Returns names of the user's API keys by their ids, including revoked ones. */
export async function listKeyNames(db: Database, userId: string): Promise<Map<string, string>> {
  const rows = await db.selectFrom('api_keys').select(['id', 'name']).where('user_id', '=', userId).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Returns all current and former API keys of the user, oldest first, without their secrets. */
export async function listKeyRecords(db: Database, userId: string) {
  return db
    .selectFrom('api_keys')
    .select(['id', 'name', 'scopes', 'for_web_app', 'created_at', 'last_used_at', 'expires_at', 'revoked_at'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute();
}

/** Returns true if an API key is valid at `now`. */
export async function isKeyLive(db: Database, keyId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', keyId)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns API keys that are valid now and expire by `until`. */
export async function listExpiringKeys(tx: Transaction, { now, until }: { now: Date; until: Date }) {
  return tx
    .selectFrom('api_keys')
    .select(['id as keyId', 'user_id as userId', 'name', 'expires_at as expiresAt'])
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .where('expires_at', '<=', until)
    .$narrowType<{ expiresAt: Date }>()
    .execute();
}

/** Returns names of users and API keys by their ids, without deleted accounts. */
export async function findNames(
  db: Database,
  { userIds, keyIds }: { userIds: string[]; keyIds: string[] },
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, username as name from users where id = any(${userIds}::text[]) and deleted_at is null
    union all
    select key.id::text, key.name from api_keys key join users on users.id = key.user_id
    where key.id = any(${keyIds}::uuid[]) and users.deleted_at is null`.execute(db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export type StoredEntry = {
  id: bigint;
  at: Date;
  userId: string | null;
  username: string | null;
  action: string;
  detail: Record<string, string>;
};

/** Returns entries of the audit log before the entry `before`, newest first. */
export async function listAuditEntries(
  db: Database,
  { userId, noun, before, limit }: { userId?: string; noun?: string; before: bigint; limit: number },
): Promise<StoredEntry[]> {
  const { rows } = await sql<StoredEntry>`
    select entry.id, entry.at, entry.user_id as "userId", users.username, entry.action, entry.detail
    from audit_log entry left join users on users.id = entry.user_id and users.deleted_at is null
    where entry.id < ${before}
      and (${userId ?? null}::text is null or entry.user_id = ${userId ?? null})
      and (${noun ?? null}::text is null or split_part(entry.action, '.', 1) = ${noun ?? null})
    order by entry.id desc
    limit ${limit}`.execute(db);
  return rows;
}

/** Returns ids of deleted users whose data is not completely purged. */
export async function listClosedAccounts(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .orderBy('deleted_at')
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes the API keys and onboarding steps of a deleted user. */
export async function deleteAccountRows(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('user_id', '=', userId).execute();
  await tx.deleteFrom('onboarding_steps').where('user_id', '=', userId).execute();
}

/** Marks a deleted user as completely purged. */
export async function markPurged(
  tx: Transaction,
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  await tx.updateTable('users').set({ purged_at: now }).where('id', '=', userId).execute();
}
