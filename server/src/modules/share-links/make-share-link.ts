import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { SharedKind, shareRun } from '@bakehouse/contract/share-links';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { insertLink, selectLink } from './queries.ts';
import { shareables } from './shareable.ts';
import { toShare } from './to-share.ts';

/**
 * Shares one of the caller's things by a link that opens for anybody; one that is shared keeps its link. Throws AppError
 * 'not_found', 'forbidden' for a model of another user that the caller may read, and 'conflict' where there is nothing to show.
 */
export async function makeShareLink(
  ctx: Context,
  { kind, id }: { kind: SharedKind; id: string },
): Promise<ResponseOf<typeof shareRun>> {
  const { userId } = ctx.caller;
  const { hold, topic, shared: action } = shareables[kind];
  return inTransaction(ctx.db, async (tx) => {
    const { detail, obstacle } = await hold(tx, { id, userId });
    if (obstacle !== null) throw new AppError('conflict', { publicMessage: obstacle });
    const own = { kind, id, userId };
    const made = await insertLink(tx, own);
    if (made) {
      await recordAudit(tx, { userId, action, detail });
      await publishChange(tx, userId, { topic, id });
    }
    const link = made ?? (await selectLink(tx, own));
    if (!link) throw new Error(`The link of ${kind} ${id} is another user's`);
    return { share: toShare(ctx.config, link) };
  });
}
