import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { StoredEntry } from './list-audit-entries.ts';

/** The newest entries with a lower id than `before`. */
export async function selectAuditEntries(
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

/** Users whose account is open, and the API keys of such. */
export async function selectNames(
  db: Database,
  { userIds, keyIds }: { userIds: string[]; keyIds: string[] },
): Promise<{ id: string; name: string }[]> {
  const { rows } = await sql<{ id: string; name: string }>`
    select id, username as name from users where id = any(${userIds}::text[]) and deleted_at is null
    union all
    select key.id::text, key.name from api_keys key join users on users.id = key.user_id
    where key.id = any(${keyIds}::uuid[]) and users.deleted_at is null`.execute(db);
  return rows;
}

/** Id of the user with this username, email address or id, whose account is open. */
export async function selectUserId(db: Database | Transaction, handle: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where((where) =>
      where.or([
        where('username', '=', handle.toLowerCase()),
        where('email', '=', handle.toLowerCase()),
        where('id', '=', handle),
      ]),
    )
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row?.id;
}
