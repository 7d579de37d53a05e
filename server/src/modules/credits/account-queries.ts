import { sql } from 'kysely';
import type { Database } from '../../platform/db/database.ts';
import { isPerson } from '../accounts/ensure-system-user.ts';

export type AccountRow = {
  id: string;
  username: string;
  name: string;
  email: string;
  email_verified: boolean;
  is_deleted: boolean;
  created_at: Date;
  balance: bigint;
  held: bigint;
};

type Place = { id: string };

/** Returns the list position of the user with this id; undefined if the user does not exist. */
export async function findPlace(db: Database, id: string): Promise<Place | undefined> {
  return db.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst();
}

/**
 * Returns the newest users after `after` whose names or address contain `search`, with their balances.
 * Returns only the user `id` if it is set.
 */
export async function selectAccounts(
  db: Database,
  { search, id, after, limit }: { search: string; id?: string; after: Place | null; limit: number },
): Promise<AccountRow[]> {
  const part = `%${search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
  const { rows } = await sql<AccountRow>`
    select users.id, username, name, email, email_verified, users.deleted_at is not null as is_deleted,
      users.created_at,
      coalesce(credits_posted - debits_posted, 0) as balance, coalesce(debits_pending, 0) as held
    from users left join ledger_accounts account on account.id = 'user:' || users.id
    where ${isPerson}
      and (${search} = '' or username like ${part} or email like ${part} or lower(name) like ${part} or users.id = ${search})
      and (${id ?? null}::text is null or users.id = ${id ?? null})
      and (${after?.id ?? null}::text is null
        or (users.created_at, users.id) < (select created_at, id from users where id = ${after?.id ?? null}))
    order by users.created_at desc, users.id desc
    limit ${limit}`.execute(db);
  return rows;
}
