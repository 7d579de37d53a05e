import type { previewTransfer as contract } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { findNamedUser, getUserTotals } from './queries.ts';
import { readSendable } from './statement/read-sendable.ts';

/** Returns the recipient of a transfer; null for an unknown name or an unsendable amount. */
export async function previewTransfer(
  ctx: Context,
  { recipient_id, amount }: InputOf<typeof contract>['query'],
): Promise<ResponseOf<typeof contract>> {
  const totals = await getUserTotals(ctx.db, ctx.caller.userId);
  const user = await findNamedUser(ctx.db, recipient_id);
  if (user === undefined || amount > (await readSendable(ctx, totals))) return { recipient: null };
  return { recipient: { user_id: user.id, username: user.username } };
}
