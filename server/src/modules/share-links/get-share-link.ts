import type { SharedKind, ShareLink } from '@bakehouse/contract/share-links';
import type { Context } from '../../platform/context.ts';
import { selectLink } from './queries.ts';
import { shareables } from './shareable.ts';
import { toShare } from './to-share.ts';

/** The link by which one of the caller's things is shared; null where it is not. Throws what finding the thing throws. */
export async function getShareLink(
  ctx: Context,
  { kind, id }: { kind: SharedKind; id: string },
): Promise<ShareLink> {
  const { userId } = ctx.caller;
  await shareables[kind].find(ctx.db, { id, userId });
  const link = await selectLink(ctx.db, { kind, id, userId });
  return { share: link ? toShare(ctx.config, link) : null };
}
