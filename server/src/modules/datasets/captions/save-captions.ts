import { Readable } from 'node:stream';
import type { saveCaptions as endpoint } from '@bakehouse/contract/captions';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../../assets/access/find-changeable-asset.ts';
import { commitFiles } from '../../assets/revisions/commit-files.ts';
import { words, writeCaptionLines } from './caption-lines.ts';
import { captionFile, type ReadCaptions, readCaptions } from './read-captions.ts';

type Changes = InputOf<typeof endpoint>['body']['captions'];
type TextFiles = { put: Map<string, string>; remove: Set<string> };

/**
 * Saves captions of the caller's dataset in one commit, in the files that hold its existing captions. Throws
 * AppError 'precondition_failed' if another commit was made since, 'invalid_request' for a picture that has
 * no caption to change, 'payload_too_large' beyond the user's quota, and the errors of `readCaptions`.
 */
export async function saveCaptions(
  ctx: Context,
  { params, body }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const who = { assetId: params.id, userId: ctx.caller.userId };
  const read = await readCaptions(ctx, await findChangeableAsset(ctx.db, who));
  if (read.commit_id !== body.parent_commit) throw stale();
  refuseStrangers(read, body.captions);
  // The last of two changes to the same caption wins.
  const changes = new Map(body.captions.map((one) => [`${one.line} ${one.path}`, one]));
  const { put, remove } = changedFiles(read, [...changes.values()]);
  const files: { path: string; sha256: string; sizeBytes: number }[] = [];
  for (const [path, text] of put) files.push({ path, ...(await storeBlob(ctx, Readable.from([text]))) });
  const commit = await inTransaction(ctx.db, (tx) =>
    commitFiles(tx, ctx.config, {
      ...{ ...who, parentCommit: body.parent_commit, message: 'Write captions' },
      ...{ put: files, removeFiles: [...remove], removeFolders: [] },
    }),
  ).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'precondition_failed') throw error;
    throw stale(error);
  });
  return { commit_id: commit.commitId };
}

function refuseStrangers({ captions }: ReadCaptions, changes: Changes): void {
  const known = new Set(captions.map(({ path, line }) => `${line} ${path}`));
  const stranger = changes.find(({ path, line }) => !known.has(`${line} ${path}`));
  if (stranger)
    throw refused('captions', `${stranger.path} is no picture of this dataset that has a caption there`);
}

function changedFiles(read: ReadCaptions, changes: Changes): TextFiles {
  if (read.file_name !== null) {
    const content = writeCaptionLines(read.content, read.file_name, changes);
    return { put: new Map([[read.file_name, content]]), remove: new Set() };
  }
  const files: TextFiles = { put: new Map(), remove: new Set() };
  const said = new Map<string, { path: string; text: string }>();
  for (const { path, text } of changes) {
    const file = captionFile(path);
    const other = said.get(file);
    if (other && words(other.text) !== words(text))
      throw refused('captions', `${other.path} and ${path} share ${file}: rename one of them`);
    said.set(file, { path, text });
    if (words(text) !== '') files.put.set(file, `${words(text)}\n`);
    else if (read.textFiles.has(file)) files.remove.add(file);
  }
  return files;
}

function stale(cause?: unknown): AppError {
  return new AppError('precondition_failed', {
    publicMessage:
      'Its files have changed since you began. Nothing was saved: look at what is there now, then save again',
    param: 'parent_commit',
    shouldRetry: false,
    cause,
  });
}
