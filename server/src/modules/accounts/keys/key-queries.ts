import type { KeyScope } from '@bakehouse/contract/endpoint';
import type { BudgetPeriod } from '@bakehouse/contract/limits';
import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { runPrepared } from '../../../platform/db/in-transaction.ts';

type Db = Database | Transaction;

export type KeyOwner = {
  key_id: string;
  for_web_app: boolean;
  scopes: KeyScope[];
  has_budget: boolean;
  expires_at: Date | null;
  last_used_at: Date | null;
  user_id: string;
  email: string;
  email_verified: boolean;
};

/**
 * Returns the owners of the keys with these hashes, in the same order, with undefined for secrets that are
 * not valid at `now`. Every API call starts with this query.
 */
export async function findKeyOwners(
  services: Pick<Services, 'db' | 'pool' | 'clock'>,
  hashes: Buffer[],
): Promise<(KeyOwner | undefined)[]> {
  const rows = await runPrepared(
    services,
    'find_key_owners',
    sql<KeyOwner & { sha256: string }>`
      select encode(s.sha256, 'hex') as sha256, s.key_id, s.for_web_app, s.scopes, s.has_budget, s.expires_at,
        s.last_used_at, s.user_id, u.email, u.email_verified
      from (
        select sha256, id as key_id, for_web_app, scopes, budget_micro is not null as has_budget, expires_at,
          last_used_at, user_id
        from api_keys where sha256 = any (${hashes}) and revoked_at is null
        union all
        select previous_sha256, id, for_web_app, scopes, budget_micro is not null, least(expires_at, previous_until),
          last_used_at, user_id
        from api_keys where previous_sha256 = any (${hashes}) and revoked_at is null
      ) s join users u on u.id = s.user_id
      where s.expires_at is null or s.expires_at > ${services.clock.now()}`,
  );
  const byHash = new Map(rows.map((row) => [row.sha256, row]));
  return hashes.map((hash) => byHash.get(hash.toString('hex')));
}

export async function setKeyLastUsed(db: Database, keyId: string, at: Date): Promise<void> {
  await db.updateTable('api_keys').set({ last_used_at: at }).where('id', '=', keyId).execute();
}

/** Inserts the web app's key. Returns false if the user already has one. */
export async function insertWebAppKey(
  tx: Transaction,
  key: { userId: string; sha256: Buffer; encrypted: Buffer },
): Promise<boolean> {
  const inserted = await tx
    .insertInto('api_keys')
    .values({
      user_id: key.userId,
      name: 'Web app',
      for_web_app: true,
      sha256: key.sha256,
      encrypted: key.encrypted,
    })
    .onConflict((conflict) => conflict.column('user_id').where('for_web_app', '=', true).doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function findEncryptedKey(db: Database, userId: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('api_keys')
    .select('encrypted')
    .where('user_id', '=', userId)
    .where('for_web_app', '=', true)
    .executeTakeFirst();
  return row?.encrypted ?? undefined;
}

export type Budget = { amountMicro: bigint; period: BudgetPeriod };

export type KeySettings = { name: string; scopes: KeyScope[]; expiresAt: Date | null; budget: Budget | null };

/** Inserts an additional key; returns its id. */
export async function insertKey(
  tx: Transaction,
  key: KeySettings & { userId: string; sha256: Buffer; at: Date },
): Promise<string> {
  const { id } = await tx
    .insertInto('api_keys')
    .values({
      user_id: key.userId,
      for_web_app: false,
      sha256: key.sha256,
      created_at: key.at,
      ...settingsOf(key),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

function settingsOf({ name, scopes, expiresAt, budget }: KeySettings) {
  return {
    name,
    scopes,
    expires_at: expiresAt,
    budget_micro: budget?.amountMicro ?? null,
    budget_period: budget?.period ?? null,
  };
}

/** Updates a key. Changing the budget's period resets the spent amount. */
export async function updateKey(tx: Transaction, keyId: string, settings: KeySettings): Promise<void> {
  const period = settings.budget?.period ?? null;
  const isSamePeriod = sql<boolean>`budget_period is not distinct from ${period}`;
  await tx
    .updateTable('api_keys')
    .set({
      ...settingsOf(settings),
      spent_micro: sql`case when ${isSamePeriod} then spent_micro else 0 end`,
      counted_since: sql`case when ${isSamePeriod} then counted_since else now() end`,
    })
    .where('id', '=', keyId)
    .execute();
}

/** Replaces the secret of a key. The previous secret is valid until `oldUntil`; earlier ones are invalid. */
export async function replaceSecret(
  tx: Transaction,
  keyId: string,
  secret: { sha256: Buffer; encrypted: Buffer | null; oldUntil: Date | null },
): Promise<void> {
  const isKept = secret.oldUntil !== null;
  await tx
    .updateTable('api_keys')
    .set({
      sha256: secret.sha256,
      encrypted: secret.encrypted,
      previous_sha256: isKept ? sql<Buffer>`sha256` : null,
      previous_until: secret.oldUntil,
    })
    .where('id', '=', keyId)
    .execute();
}

export async function revokeKeyRow(tx: Transaction, keyId: string, at: Date): Promise<void> {
  await tx.updateTable('api_keys').set({ revoked_at: at }).where('id', '=', keyId).execute();
}

export type KeyRow = Awaited<ReturnType<typeof listKeys>>[number];

const keyColumns = [
  'id',
  'user_id',
  'name',
  'scopes',
  'for_web_app',
  'created_at',
  'last_used_at',
  'expires_at',
  'previous_until',
  'revoked_at',
  'budget_micro',
  'budget_period',
  'held_micro',
] as const;

/** Returns a user's keys except revoked ones, oldest first; `spent_micro` covers the current period. */
export async function listKeys(db: Db, userId: string) {
  return liveKeys(db).where('user_id', '=', userId).orderBy('id').execute();
}

/** Returns a user's keys, including revoked ones. */
export async function listAllKeys(db: Db, userId: string) {
  return allKeys(db).where('user_id', '=', userId).orderBy('id').execute();
}

/** Locks and returns a key of the user that is not revoked. */
export async function lockKey(tx: Transaction, { userId, keyId }: { userId: string; keyId: string }) {
  return liveKeys(tx).where('user_id', '=', userId).where('id', '=', keyId).forUpdate().executeTakeFirst();
}

/** Locks and returns a user's web app key. */
export async function lockWebAppKey(tx: Transaction, userId: string) {
  return liveKeys(tx)
    .where('user_id', '=', userId)
    .where('for_web_app', '=', true)
    .forUpdate()
    .executeTakeFirst();
}

/** Returns true if this secret of a key is valid at `now`. */
export async function isKeyOpen(
  tx: Transaction,
  { id, sha256 }: { id: string; sha256: Buffer },
  now: Date,
): Promise<boolean> {
  const { rows } = await sql`
    select from api_keys
    where id = ${id} and revoked_at is null and (expires_at is null or expires_at > ${now})
      and (sha256 = ${sha256} or (previous_sha256 = ${sha256} and previous_until > ${now}))`.execute(tx);
  return rows.length > 0;
}

function liveKeys(db: Db) {
  return allKeys(db).where('revoked_at', 'is', null);
}

function allKeys(db: Db) {
  const start = sql<Date>`budget_period_start(budget_period, now())`;
  return db
    .selectFrom('api_keys')
    .select(keyColumns)
    .select([
      sql<bigint>`case when counted_since < ${start} then 0 else spent_micro end`.as('spent_micro'),
      sql<Date | null>`budget_renews_at(budget_period, now())`.as('renews_at'),
    ]);
}

export async function deleteWebAppKey(tx: Transaction, keyId: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('id', '=', keyId).where('for_web_app', '=', true).execute();
}
