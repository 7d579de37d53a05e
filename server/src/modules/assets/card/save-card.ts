import { Readable } from 'node:stream';
import { CARD_BYTES_MAX, type saveCard as endpoint } from '@bakehouse/contract/asset-commits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, conflict, invalidParam, payloadTooLarge } from '../../../platform/errors.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../access/changeable.ts';
import { CARD_PATH, findNewestFile } from '../queries.ts';
import { commitFiles } from '../revisions/commit-files.ts';
import { toWireCommit } from '../revisions/commits.ts';
import { saveCardData } from './card-data.ts';
import { readCard } from './read-card.ts';

type Input = { assetId: string } & InputOf<typeof endpoint>['body'];

/**
 * Saves the card of an asset of the caller as a commit. Throws AppError 'conflict' if there is a newer
 * commit, 'invalid_request' for unreadable metadata, and 'payload_too_large' beyond 1 MB and the user's
 * quota.
 */
export async function saveCard(
  ctx: Context,
  { assetId, content, message, parent_commit: parentCommit }: Input,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const { id } = await findChangeableAsset(ctx.db, { assetId, userId });
  const bytes = Buffer.from(content);
  if (bytes.length > CARD_BYTES_MAX) {
    const publicMessage = 'A card can have at most 1 MB. Move longer text to a separate file';
    throw payloadTooLarge(publicMessage, { param: 'content' });
  }
  const { data, problem } = await readCard(ctx, content, userId);
  if (problem !== null) throw invalidParam('content', problem);
  const isNew = (await findNewestFile(ctx.db, id, CARD_PATH)) === undefined;
  const blob = await storeBlob(ctx, Readable.from([bytes]));
  await saveCardData(ctx, blob.sha256, data);
  const commit = await inTransaction(ctx.db, (tx) =>
    commitFiles(tx, ctx.config, {
      ...{ assetId: id, userId, parentCommit },
      message: message || `${isNew ? 'Create' : 'Update'} ${CARD_PATH}`,
      put: [{ path: CARD_PATH, ...blob }],
      removeFiles: [],
      removeFolders: [],
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'precondition_failed') throw error;
    throw conflict(
      'The files have changed since you opened this card, and nothing was saved. Copy your text, then open the card again',
      { param: 'parent_commit', cause: error },
    );
  });
  return toWireCommit(commit);
}
