import type { SharedKind } from '@bakehouse/contract/share-links';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { deleteLink } from './queries.ts';
import { shareables } from './shareable.ts';

/** Revokes the link of one of the caller's things, if it has one. Throws what finding the thing throws. */
export async function revokeShareLink(
  ctx: Context,
  { kind, id }: { kind: SharedKind; id: string },
): Promise<void> {
  const { userId } = ctx.caller;
  const { hold, topic, unshared: action } = shareables[kind];
  await inTransaction(ctx.db, async (tx) => {
    const { detail } = await hold(tx, { id, userId });
    if (!(await deleteLink(tx, { kind, id, userId }))) return;
    await recordAudit(tx, { userId, action, detail });
    await publishChange(tx, userId, { topic, id });
  });
}
