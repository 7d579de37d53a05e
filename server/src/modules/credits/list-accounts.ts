import type { Account, listAccounts as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { unknownCursor } from '../../platform/unknown-cursor.ts';
import { findUserId } from '../accounts/find-user-id.ts';
import { isOperator } from '../accounts/is-operator.ts';
import { type AccountRow, findPlace, selectAccounts } from './account-queries.ts';

/** Lists users and balances, newest first; for operators. The cursor is the previous page's last user. */
export async function listAccounts(
  ctx: Context,
  { query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const { search, user, limit, cursor } = query;
  const id = user === undefined ? undefined : await findUserId(ctx.db, user);
  if (user !== undefined && id === undefined) return { accounts: [], next_cursor: null };
  const after = cursor === undefined ? null : await findPlace(ctx.db, cursor);
  if (after === undefined) throw unknownCursor();
  const found = await selectAccounts(ctx.db, { search, id, after, limit: limit + 1 });
  const accounts = found.slice(0, limit).map((row) => toAccount(ctx, row));
  return { accounts, next_cursor: found.length > limit ? (accounts.at(-1)?.user_id ?? null) : null };
}

function toAccount({ config }: Pick<Context, 'config'>, row: AccountRow): Account {
  const { id, email_verified, created_at, balance, held, ...words } = row;
  return {
    user_id: id,
    ...words,
    email_verified,
    is_operator: isOperator(config, { email: row.email, emailVerified: email_verified }),
    created_at: created_at.toISOString(),
    balance: formatBgl(balance),
    held: formatBgl(held),
  };
}
