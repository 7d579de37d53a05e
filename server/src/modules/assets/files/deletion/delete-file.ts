import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { METADATA, METADATA_BYTES_MAX } from '@bakehouse/contract/gallery';
import type { Context } from '../../../../platform/context.ts';
import type { Transaction } from '../../../../platform/db/database.ts';
import { inTransaction } from '../../../../platform/db/in-transaction.ts';
import { notFoundError } from '../../../../platform/errors.ts';
import type { Blob } from '../../../../platform/storage/blob-store.ts';
import { readBlob } from '../../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../../platform/storage/store-blob.ts';
import { recordAudit } from '../../../accounts/record-audit.ts';
import { findChangeableAsset, lockChangeableAsset } from '../../access/changeable.ts';
import { findNewestFile } from '../../queries.ts';
import { addRevision } from '../../revisions/add-revision.ts';

type Input = { assetId: string; path: string };

type Answer = { revision_id: string };

/**
 * The file `metadata.jsonl` of a picture dataset: its hash, and its content without the deleted picture's
 * line; null if it has no such line.
 */
type Metadata = { sha256: string | null; replacement: Blob | null };

/**
 * Removes a file in a new revision. If the dataset's picture metadata has a line for the file, removes that
 * line too, because a caption without a picture breaks training. Earlier revisions keep both.
 */
export async function deleteFile(ctx: Context, input: Input): Promise<Answer> {
  for (;;) {
    const metadata = await prepareMetadata(ctx, input);
    const answer = await inTransaction(ctx.db, (tx) => remove(tx, ctx, { ...input, metadata }));
    if (answer) return answer;
  }
}

/** Returns null if the metadata has changed since `prepareMetadata` read it. */
async function remove(
  tx: Transaction,
  { caller: { userId } }: Context,
  { assetId, path, metadata }: Input & { metadata: Metadata },
): Promise<Answer | null> {
  const asset = await lockChangeableAsset(tx, { assetId, userId });
  const file = await findNewestFile(tx, asset.id, path);
  if (!file) throw notFoundError(`There is no file ${path}`, { param: 'file_path' });
  const current = await findNewestFile(tx, asset.id, METADATA);
  if ((current?.sha256 ?? null) !== metadata.sha256) return null;
  await recordAudit(tx, {
    userId,
    action: 'asset.file_deleted',
    detail: { asset_id: asset.id, path: file.path },
  });
  // Skip the quota check: users would not understand why deleting a file exceeds their quota.
  const put = metadata.replacement ? [{ path: METADATA, ...metadata.replacement }] : [];
  const message = `Delete ${file.path}`;
  return {
    revision_id: await addRevision(tx, asset, { put, remove: [file.path], message, authorUserId: userId }),
  };
}

async function prepareMetadata(ctx: Context, { assetId, path }: Input): Promise<Metadata> {
  const { id } = await findChangeableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const file = await findNewestFile(ctx.db, id, METADATA);
  if (!file) return { sha256: null, replacement: null };
  const { sha256 } = file;
  if (path === METADATA || file.size_bytes > METADATA_BYTES_MAX) return { sha256, replacement: null };
  const before = await buffer(await readBlob(ctx, { sha256, path: METADATA }));
  const after = withoutLine(before, path);
  if (after.length === before.length) return { sha256, replacement: null };
  return { sha256, replacement: await storeBlob(ctx, Readable.from([after])) };
}

/** Removes lines with this `file_name` from the metadata of pictures. All other bytes stay the same. */
export function withoutLine(metadata: Buffer, path: string): Buffer {
  // Decode one character per byte to preserve invalid UTF-8.
  const lines = metadata.toString('latin1').split(/(?<=\n)/);
  return Buffer.from(lines.filter((line) => nameIn(line) !== path).join(''), 'latin1');
}

function nameIn(line: string): unknown {
  try {
    const row: unknown = JSON.parse(Buffer.from(line, 'latin1').toString());
    return typeof row === 'object' && row !== null && 'file_name' in row ? row.file_name : null;
  } catch {
    return null;
  }
}
