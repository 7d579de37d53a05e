import { Readable } from 'node:stream';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { preparedIdempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../../assets/access/find-changeable-asset.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { commitFiles } from '../../assets/revisions/commit-files.ts';
import { findHead } from '../../assets/revisions/find-commit.ts';

/** Times that they are added to what another commit has made meanwhile. */
const TRIES = 5;
const NEWLINE = 0x0a;

type Addition<Kept, Answer> = {
  assetId: string;
  /** The field of the call that names the dataset. */
  field: string;
  /** The file, which is made where it is not there. */
  path: string;
  /** Of the idempotency key. */
  call: { operation: string; input: unknown };
  /** Whole lines, with what the rest is to know of them; asked again for each try. */
  lines: () => Promise<{ text: string; kept: Kept }>;
  message: (kept: Kept) => string;
  /** Runs in the transaction of the commit. */
  commit: (tx: Transaction, kept: Kept, commitId: string) => Promise<Answer>;
};

/**
 * Adds lines to the end of a file of JSON Lines in a dataset of the caller; once for equal calls under one idempotency key.
 * Throws AppError 'invalid_request' for a model, 'forbidden', 'not_found', and 'payload_too_large' beyond the user's quota.
 */
export async function addLines<Kept, Answer extends object>(
  ctx: Context,
  { assetId, field, path, call, lines, message, commit }: Addition<Kept, Answer>,
): Promise<Answer> {
  const who = { assetId, userId: ctx.caller.userId };
  const once = { userId: who.userId, key: ctx.idempotencyKey, ...call };
  const prepare = async () => {
    const { text, kept } = await lines();
    return { kept, ...(await storeWithLines(ctx, { ...who, field, path, text })) };
  };
  for (let tries = 1; ; tries += 1) {
    try {
      return await preparedIdempotent(ctx.db, once, prepare, async (tx, { kept, parentCommit, file }) => {
        const put = { put: [file], removeFiles: [], removeFolders: [] };
        const made = await commitFiles(tx, ctx.config, {
          ...who,
          ...put,
          parentCommit,
          message: message(kept),
        });
        return commit(tx, kept, made.commitId);
      });
    } catch (error) {
      const isLate = error instanceof AppError && error.code === 'precondition_failed';
      if (!isLate || tries === TRIES) throw error;
    }
  }
}

/** Stores the file as it is in the newest commit, with more lines. */
async function storeWithLines(
  ctx: Context,
  {
    field,
    path,
    text,
    ...who
  }: { assetId: string; userId: string; field: string; path: string; text: string },
) {
  const asset = await findChangeableAsset(ctx.db, who);
  if (asset.dataset_type === 'MODEL') throw refused(field, `${field} is that of a model: name a dataset`);
  const { commitId: parentCommit, revisionId } = await findHead(ctx.db, asset);
  const { files } = revisionId
    ? await readRevision(ctx.db, { ...who, revisionId, paths: [path] })
    : { files: [] };
  const [before] = files;
  const bytes = before ? withText(await readBlob(ctx, before), text) : [text];
  return { parentCommit, file: { path, ...(await storeBlob(ctx, Readable.from(bytes))) } };
}

/** The bytes with more lines; a file that was uploaded may end within its last one. */
async function* withText(before: Readable, text: string): AsyncGenerator<Buffer | string> {
  let last = NEWLINE;
  for await (const chunk of before as AsyncIterable<Buffer>) {
    last = chunk.at(-1) ?? last;
    yield chunk;
  }
  if (last !== NEWLINE) yield '\n';
  yield text;
}
