import type { listCodes as contract } from '@bakehouse/contract/codes';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { listAllCodes } from './code-queries.ts';

/** Lists all credit codes, newest first; the caller is an operator. */
export async function listCodes(
  ctx: Context,
  { limit, cursor }: InputOf<typeof contract>['query'],
): Promise<ResponseOf<typeof contract>> {
  const rows = await listAllCodes(ctx.db, { before: cursor ?? null, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    codes: page.map((row) => ({
      id: row.id,
      hint: row.hint,
      amount: formatBgl(row.amount_micro),
      note: row.note,
      redemptions: row.redemptions,
      redemptions_max: row.redemptions_max,
      redeemed_by: row.redeemed_by.map(({ username, at }) => ({ username, at: new Date(at).toISOString() })),
      expires_at: row.expires_at?.toISOString() ?? null,
      revoked_at: row.revoked_at?.toISOString() ?? null,
      created_at: row.created_at.toISOString(),
    })),
    next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}
