import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { getGenerationShare, shareGeneration as shareEndpoint } from '@bakehouse/contract/share-links';
import type { Config } from '../../config.ts';
import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { findGeneration } from '../generations/find-generations.ts';
import { findOwnGeneration } from '../generations/find-own-generation.ts';
import { mediumOf } from '../generations/media-table.ts';
import { deleteLink, insertLink, selectLink } from './queries.ts';
import { sharePageUrl, shareToken } from './share-token.ts';

type Input = { params: { id: string } };

/** Returns the share link of the caller's generation, or null. Throws AppError 'not_found'. */
export async function getShareLink(
  { db, config, caller: { userId } }: Context,
  { params: { id } }: Input,
): Promise<ResponseOf<typeof getGenerationShare>> {
  if (!(await findGeneration(db, { id, userId })))
    throw new AppError('not_found', { publicMessage: 'No generation has this id' });
  const link = await selectLink(db, { id, userId });
  return { share: link ? toShare(config, link) : null };
}

/** Shares a completed generation or returns its existing link. Throws AppError 'not_found' or 'conflict'. */
export async function shareGeneration(
  { db, config, caller: { userId } }: Context,
  { params: { id } }: Input,
): Promise<ResponseOf<typeof shareEndpoint>> {
  const own = { id, userId };
  return inTransaction(db, async (tx) => {
    const { state, generator } = await findOwnGeneration(tx, own);
    if (state !== 'completed')
      throw new AppError('conflict', {
        publicMessage: `This ${mediumOf(generator).noun} is not completed, so there is nothing to share`,
      });
    const created = await insertLink(tx, own);
    if (created) await recordChange(tx, own, 'generation.shared');
    const link = created ?? (await selectLink(tx, own));
    if (!link) throw new Error(`The link of generation ${id} belongs to another user`);
    return { share: toShare(config, link) };
  });
}

/** Deletes the share link of the caller's generation, if it has one. Throws AppError 'not_found'. */
export async function unshareGeneration(
  { db, caller: { userId } }: Context,
  { params: { id } }: Input,
): Promise<void> {
  const own = { id, userId };
  await inTransaction(db, async (tx) => {
    await findOwnGeneration(tx, own);
    if (await deleteLink(tx, own)) await recordChange(tx, own, 'generation.unshared');
  });
}

/** Lists the caller's shared generations, oldest first, without the links, which work without a key. */
export async function listShareLinks({ db, caller: { userId } }: Context) {
  return db
    .selectFrom('share_links')
    .select(['generation_id', 'created_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Step: deletes all share links of a user. */
export async function deleteShareLinks(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('share_links').where('user_id', '=', userId).execute();
}

async function recordChange(
  tx: Transaction,
  { id, userId }: { id: string; userId: string },
  action: 'generation.shared' | 'generation.unshared',
): Promise<void> {
  await recordAudit(tx, { userId, action, detail: { generation_id: id } });
  await publishChange(tx, userId, { topic: 'generation', id });
}

function toShare(config: Config, { id, created_at }: { id: string; created_at: Date }) {
  const url = sharePageUrl(config, shareToken(serverSecret(config), id));
  return { url, created_at: created_at.toISOString() };
}
