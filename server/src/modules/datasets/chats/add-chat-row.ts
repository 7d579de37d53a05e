import { Readable } from 'node:stream';
import { type addChatRow as addChatRowEndpoint, CHATS_FILE } from '@bakehouse/contract/chat-rows';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { preparedIdempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { AppError, invalidParam } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../../assets/access/changeable.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { commitFiles } from '../../assets/revisions/commit-files.ts';
import { findHead } from '../../assets/revisions/commits.ts';

/** Maximum attempts if concurrent commits change the file. */
const TRIES = 5;

const NEWLINE = 0x0a;

/**
 * Appends a conversation to the conversations file of the caller's dataset. Throws the errors of `addLines`.
 */
export async function addChatRow(
  ctx: Context,
  input: InputOf<typeof addChatRowEndpoint>,
): Promise<ResponseOf<typeof addChatRowEndpoint>> {
  return addLines(ctx, {
    assetId: input.params.id,
    field: 'id',
    path: CHATS_FILE,
    call: { operation: 'add-chat-row', input },
    lines: async () => ({ text: `${JSON.stringify(input.body)}\n`, kept: null }),
    message: () => 'Add a conversation',
    commit: async (_, _kept, commitId) => ({ commit_id: commitId, file_name: CHATS_FILE }),
  });
}

type Addition<Kept, Answer> = {
  assetId: string;
  /** Name of the request field with the dataset's id. */
  field: string;
  /** Path of the file, which is created if it does not exist. */
  path: string;
  /** Identifies the call together with its idempotency key. */
  call: { operation: string; input: unknown };
  /**
   * Returns the lines to append, and data for the two functions below. Runs again after a concurrent commit.
   */
  lines: () => Promise<{ text: string; kept: Kept }>;
  message: (kept: Kept) => string;
  /** Runs in the transaction of the commit. */
  commit: (tx: Transaction, kept: Kept, commitId: string) => Promise<Answer>;
};

/**
 * Appends lines to a JSON Lines file in the caller's dataset, once per idempotency key. Throws AppError
 * 'invalid_request' if the asset is a model, 'forbidden', 'not_found', and 'payload_too_large' above the
 * user's quota.
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

/** Stores a new version of the file: the newest commit's content plus the lines. */
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
  if (asset.dataset_type === 'MODEL')
    throw invalidParam(field, `${field} belongs to a model: choose a dataset`);
  const { commitId: parentCommit, revisionId } = await findHead(ctx.db, asset);
  const { files } = revisionId
    ? await readRevision(ctx.db, { ...who, revisionId, paths: [path] })
    : { files: [] };
  const [before] = files;
  const bytes = before ? withText(await readBlob(ctx, before), text) : [text];
  return { parentCommit, file: { path, ...(await storeBlob(ctx, Readable.from(bytes))) } };
}

/** Yields the file's content, a newline if the last line has none, and the text. */
async function* withText(before: Readable, text: string): AsyncGenerator<Buffer | string> {
  let last = NEWLINE;
  for await (const chunk of before as AsyncIterable<Buffer>) {
    last = chunk.at(-1) ?? last;
    yield chunk;
  }
  if (last !== NEWLINE) yield '\n';
  yield text;
}
