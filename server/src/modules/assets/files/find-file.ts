import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { type FileRow, findNewestFile, listFiles } from '../queries.ts';
import { spellingsOf } from '../revisions/read-tree.ts';
import { requireRevisionNumber } from './require-revision-number.ts';

/** Returns a file of the newest or the given revision. Throws AppError 'not_found'. */
export async function findFile(
  ctx: Context,
  { assetId, revisionId, path }: { assetId: string; revisionId: string | undefined; path: string },
): Promise<FileRow> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const file = revisionId
    ? await findFileOfRevision(ctx, { assetId: asset.id, revisionId, path })
    : await findFileOfNewest(ctx, asset.id, path);
  if (!file) throw new AppError('not_found', { publicMessage: `There is no file ${path}`, param: 'path' });
  return file;
}

async function findFileOfNewest(
  { db }: Context,
  assetId: string,
  path: string,
): Promise<FileRow | undefined> {
  for (const spelling of spellingsOf(path)) {
    const file = await findNewestFile(db, assetId, spelling);
    if (file) return file;
  }
  return undefined;
}

async function findFileOfRevision(
  ctx: Context,
  input: { assetId: string; revisionId: string; path: string },
): Promise<FileRow | undefined> {
  const number = await requireRevisionNumber(ctx.db, input);
  const [file] = await listFiles(ctx.db, { assetId: input.assetId, number, paths: spellingsOf(input.path) });
  return file;
}
