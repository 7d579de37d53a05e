import type { editRows as editRowsEndpoint } from '@bakehouse/contract/data-files';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import * as z from 'zod';
import { OutOfLimits } from '../../platform/confined/run-confined.ts';
import type { Context } from '../../platform/context.ts';
import { preparedIdempotent } from '../../platform/db/idempotency/idempotent.ts';
import { AppError, conflict, invalidParam } from '../../platform/errors.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../assets/access/changeable.ts';
import { findFile } from '../assets/files/files.ts';
import { commitFiles } from '../assets/revisions/commit-files.ts';
import { findHead } from '../assets/revisions/commits.ts';
import { confinedLimitExceeded, runDataCommand } from './read-profile.ts';

/** Enough for 100,000 rows: the file is read once and written once. */
const CPU_SECONDS = 60;

const answer = z.union([
  z.object({ stale: z.string() }),
  z.object({ refused: z.string(), index: z.int() }),
  z.object({ unreadable: z.string() }),
  z.strictObject({}),
]);

type Input = InputOf<typeof editRowsEndpoint>;

/**
 * Saves edited rows of a file of the caller's dataset as one commit, once per idempotency key. Throws
 * AppError 'conflict' if the file has changed since the given revision, 'invalid_request' for an edit that
 * does not fit the file, 'payload_too_large' above the user's quota, and the errors of `findFile`,
 * `findChangeableAsset` and `runDataCommand`.
 */
export async function editRows(ctx: Context, input: Input): Promise<ResponseOf<typeof editRowsEndpoint>> {
  const { userId } = ctx.caller;
  const assetId = input.params.id;
  const { edits } = input.body;
  const once = { userId, key: ctx.idempotencyKey, operation: 'edit-rows', input };
  const prepare = () => prepareFile(ctx, input);
  return preparedIdempotent(ctx.db, once, prepare, async (tx, { parentCommit, file }) => {
    const commit = await commitFiles(tx, ctx.config, {
      ...{ assetId, userId, parentCommit, put: [file], removeFiles: [], removeFolders: [] },
      message: `Edit ${edits.length === 1 ? 'a row' : `${edits.length} rows`} of ${file.path}`,
    }).catch((error: unknown) => {
      const isLate = error instanceof AppError && error.code === 'precondition_failed';
      throw isLate ? changed(file.path, error) : error;
    });
    return { commit_id: commit.commitId, revision_id: commit.revisionId };
  });
}

/** Stores the edited file and returns it with the newest commit, on which it is based. */
async function prepareFile(ctx: Context, { params, body }: Input) {
  const { revision_id: revisionId, edits } = body;
  const asset = await findChangeableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const { commitId: parentCommit } = await findHead(ctx.db, asset);
  const place = { assetId: params.id, path: body.path };
  const shown = await findFile(ctx, { ...place, revisionId });
  const newest = await findFile(ctx, { ...place, revisionId: undefined });
  if (shown.sha256 !== newest.sha256) throw changed(newest.path);
  const run = await runDataCommand(ctx, newest, {
    ...{ command: 'edit-rows', cpuSeconds: CPU_SECONDS, input: { edits } },
  }).catch((cause: unknown) => {
    throw cause instanceof OutOfLimits ? confinedLimitExceeded(newest.path, cause) : cause;
  });
  try {
    const result = answer.parse(run.answer);
    if ('stale' in result)
      throw conflict(`${result.stale} Undo or discard its change, and make it again`, { param: 'edits' });
    if ('refused' in result) throw invalidParam(`edits.${result.index}`, result.refused);
    if ('unreadable' in result) throw invalidParam('path', result.unreadable);
    if (!run.file) throw new Error('The edited file is missing');
    const blob = await storeBlob(ctx, run.file.createReadStream({ autoClose: false }));
    return { parentCommit, file: { path: newest.path, ...blob } };
  } finally {
    await run.file?.close();
  }
}

function changed(path: string, cause?: unknown): AppError {
  return conflict(
    `${path} has changed since you opened it. Nothing was saved: reload the page, and make your changes again`,
    { param: 'revision_id', cause },
  );
}
