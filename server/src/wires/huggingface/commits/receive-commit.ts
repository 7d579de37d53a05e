import { Readable } from 'node:stream';
import { CARD_BYTES_MAX } from '@bakehouse/contract/asset-commits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { commitFiles as endpoint } from '@bakehouse/contract/hub/commits';
import { formatBytes } from '@bakehouse/contract/labels';
import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { parseUploadedCard } from '../../../modules/assets/card/card-data.ts';
import { quotaExceeded, readQuota } from '../../../modules/assets/files/storage-quota.ts';
import { cleanFilePath } from '../../../modules/assets/files/upload/clean-path.ts';
import { listPendingUploads } from '../../../modules/assets/files/upload/parts/uploads.ts';
import type { CheckModelFile } from '../../../modules/assets/files/upload/upload-file.ts';
import type { AssetRow } from '../../../modules/assets/queries.ts';
import { readFamilyOf } from '../../../modules/assets/recognise/family.ts';
import { repositoryId } from '../../../modules/assets/repositories/namespace.ts';
import type { NewFile } from '../../../modules/assets/revisions/add-revision.ts';
import { commitFiles, type FileChanges } from '../../../modules/assets/revisions/commit-files.ts';
import type { Commit } from '../../../modules/assets/revisions/commits.ts';
import { CARD_PATH, findFilesOf, spellingsOf } from '../../../modules/assets/revisions/read-tree.ts';
import { listCloneUploads } from '../../../modules/hub/clone/clones.ts';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { invalidParam } from '../../../platform/errors.ts';

import { receiveBytes } from '../../../platform/http/bodies/read-body.ts';
import { parseLine, splitLines } from '../../../platform/http/bodies/split-lines.ts';
import { ownsBlob } from '../../../platform/storage/owner-queries.ts';
import { touchBlobs } from '../../../platform/storage/queries.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { releaseUploadsOf } from '../../../platform/storage/uploads/uploads.ts';
import { findUploaded } from '../lfs.ts';
import { hubUrl } from '../next-page.ts';
import { openCommit } from '../repositories/open-repository.ts';
import { REGULAR_BYTES_MAX } from './preupload-files.ts';
import { openWritableBranch } from './refs.ts';

/** Size of a line with the largest inlined file in Base64. */
const LINE_BYTES_MAX = (REGULAR_BYTES_MAX / 3) * 4 + 16 * 1024;
/** Far more lines than the public hub accepts. */
const LINES_MAX = 50_000;
/** Total size of all lines without file contents. */
const BESIDES_BYTES_MAX = 64 * 1024 * 1024;
/** Low, because each folder is looked up while the repository is locked. */
const FOLDERS_MAX = 1000;
/** Much shorter than the time for which the collector spares unreferenced bytes. */
const TOUCH_MS = 10 * 60 * 1000;

type Draft = FileChanges & { header: Extract<CommitLine, { key: 'header' }>['value'] | null };

/**
 * Receives a commit line by line. Stores file contents immediately, and commits everything in one transaction
 * at the end. Repeating a commit changes nothing. Throws HubError. Throws AppError 'invalid_request' for an
 * invalid line or a file that is unsafe in a model, 'payload_too_large' as soon as the quota is exceeded, and
 * the errors of `commitFiles`.
 */
export async function receiveCommit(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
  request: FastifyRequest,
  { checkModelFile }: { checkModelFile: CheckModelFile },
): Promise<ResponseOf<typeof endpoint>> {
  const { asset, head, branch } = await openWritableBranch(ctx, { ...params, ...query });
  const draft = await receiveBytes(ctx, request, (bytes) => readDraft(ctx, asset, bytes));
  if (!draft.header) throw invalidParam('key', 'A commit must begin with its header');
  const families =
    asset.dataset_type === 'MODEL'
      ? await checkNew(ctx, { asset, head, put: draft.put, checkModelFile })
      : new Map<string, string>();
  const { summary, description, parentCommit } = draft.header;
  const { userId } = ctx.caller;
  const card = draft.put.findLast(({ path }) => path === CARD_PATH);
  if (card) await parseUploadedCard(ctx, { path: card.path, blob: card, userId });
  const commit = await inTransaction(ctx.db, async (tx) => {
    const made = await commitFiles(tx, ctx.config, {
      ...draft,
      families,
      assetId: asset.id,
      branch,
      userId,
      message: [summary, description].filter(Boolean).join('\n\n'),
      parentCommit: parentCommit ?? null,
    });
    const bytes = { userId, sha256s: draft.put.map(({ sha256 }) => sha256) };
    const except = [...(await listPendingUploads(tx, bytes)), ...(await listCloneUploads(tx, bytes))];
    await releaseUploadsOf(tx, { ...bytes, except });
    return made;
  });
  const folder = params.type === 'datasets' ? '/datasets' : '';
  return {
    success: true,
    commitOid: commit.commitId,
    commitUrl: `${hubUrl(request)}${folder}/${repositoryId(asset)}/commit/${commit.commitId}`,
    hookOutput: '',
    pullRequestUrl: null,
  };
}

async function readDraft(ctx: Context, asset: AssetRow, bytes: AsyncIterable<Buffer>): Promise<Draft> {
  const draft: Draft = { header: null, put: [], removeFiles: [], removeFolders: [] };
  const countNew = await countWithinQuota(ctx);
  const touch = touchNowAndThen(ctx);
  let besides = 0;
  const countBytes = async function* () {
    for await (const chunk of bytes) {
      besides += chunk.length;
      if (besides > BESIDES_BYTES_MAX)
        throw invalidParam(
          'files',
          `A commit has at most ${formatBytes(BESIDES_BYTES_MAX)} in addition to its files`,
        );
      yield chunk;
    }
  };
  const limits = {
    lineBytesMax: LINE_BYTES_MAX,
    linesMax: LINES_MAX,
    refuseLine: () =>
      invalidParam('content', 'A file is too large for a commit. Upload it first with Git LFS'),
    refuseCount: () => invalidParam('files', `A commit may change at most ${LINES_MAX} files`),
  };
  for await (const { number, text } of splitLines(countBytes(), limits)) {
    const line = parseCommitLine(text, number);
    if (line.key === 'file') besides -= line.value.content.length;
    await addLine(ctx, { asset, draft, line });
    const added = draft.put.at(-1);
    if (line.key === 'file' && added) await countNew(added);
    await touch(draft.put);
  }
  return draft;
}

/**
 * Returns a function that adds up the bytes that a commit adds for its user. It throws
 * AppError('payload_too_large') when they exceed the remaining quota, so that nothing more is stored.
 */
async function countWithinQuota(ctx: Context): Promise<(file: NewFile) => Promise<void>> {
  const { userId } = ctx.caller;
  const quota = await readQuota(ctx, userId);
  const counted = new Set<string>();
  let bytes = 0;
  return async ({ sha256, sizeBytes }) => {
    if (!quota || counted.has(sha256) || (await ownsBlob(ctx.db, userId, sha256))) return;
    counted.add(sha256);
    bytes += sizeBytes;
    if (bytes <= quota.leftBytes) return;
    const needed = `more than ${formatBytes(quota.leftBytes)}`;
    throw quotaExceeded(quota, { needed, param: 'files', files: counted.size });
  };
}

/** Returns a function that protects the commit's stored bytes from the collector while the rest arrives. */
function touchNowAndThen({ clock, db }: Context): (put: NewFile[]) => Promise<void> {
  let touchedAt = clock.now().getTime();
  return async (put) => {
    const now = clock.now().getTime();
    if (put.length === 0 || now - touchedAt < TOUCH_MS) return;
    touchedAt = now;
    await touchBlobs(
      db,
      put.map(({ sha256 }) => sha256),
    );
  };
}

async function addLine(
  ctx: Context,
  { asset, draft, line }: { asset: AssetRow; draft: Draft; line: CommitLine },
): Promise<void> {
  if (line.key === 'header') draft.header = line.value;
  else if (draft.header === null) throw invalidParam('key', 'A commit must begin with its header');
  else if (line.key === 'deletedFile') draft.removeFiles.push(line.value.path);
  else if (line.key === 'deletedFolder') {
    if (draft.removeFolders.length === FOLDERS_MAX)
      throw invalidParam('files', `A commit may delete at most ${FOLDERS_MAX} folders`);
    draft.removeFolders.push(line.value.path);
  } else if (line.key === 'file') draft.put.push(await storeFile(ctx, line.value));
  else if (line.key === 'lfsFile')
    draft.put.push({ path: line.value.path, ...(await findUploaded(ctx, line.value.oid)) });
  else draft.put.push(await findCopied(ctx, asset, line.value));
}

async function storeFile(
  ctx: Context,
  { path, content, encoding }: Extract<CommitLine, { key: 'file' }>['value'],
): Promise<NewFile> {
  const bytes = Buffer.from(content, encoding);
  if (path === CARD_PATH && bytes.length > CARD_BYTES_MAX)
    throw invalidParam('content', `${CARD_PATH} is a card, and has at most 1 MB`);
  return { path, ...(await storeBlob(ctx, Readable.from([bytes]))) };
}

/** Returns the bytes of a file in this repository, possibly at another revision. */
async function findCopied(
  ctx: Context,
  asset: AssetRow,
  { path, srcPath, srcRevision }: Extract<CommitLine, { key: 'copyFile' }>['value'],
): Promise<NewFile> {
  const { number } = await openCommit(ctx, asset, srcRevision ?? 'main');
  const [file] = await findFilesOf(ctx.db, { assetId: asset.id, number, paths: spellingsOf(srcPath) });
  if (!file) throw invalidParam('srcPath', `There is no file ${srcPath}`);
  return { path, sha256: file.sha256, sizeBytes: Number(file.size_bytes) };
}

/** Checks files that are new to the model. Returns the families that their configurations name, by path. */
async function checkNew(
  ctx: Context,
  {
    asset,
    head,
    put,
    checkModelFile,
  }: { asset: AssetRow; head: Commit; put: NewFile[]; checkModelFile: CheckModelFile },
): Promise<Map<string, string>> {
  const families = new Map<string, string>();
  const paths = put.map(({ path }) => path);
  const rows = await findFilesOf(ctx.db, { assetId: asset.id, number: head.number, paths });
  const present = new Map(rows.map(({ path, sha256 }) => [path, sha256]));
  const touch = touchNowAndThen(ctx);
  for (const file of put) {
    const { path, sha256 } = file;
    await touch(put);
    if (present.get(path) === sha256) continue;
    await ctx.blobs.withLocalFile(sha256, (localPath) =>
      checkModelFile(ctx.sandbox, { localPath, name: path, userId: ctx.caller.userId }),
    );
    const family = await readFamilyOf(ctx, { path, blob: file });
    if (family === null) families.delete(path);
    else families.set(path, family);
  }
  return families;
}

/** The stored path may differ: accents are composed, and invisible characters removed. */
const path = z.string().transform((sent) => cleanFilePath(sent));
const folder = z.string().transform((sent) => cleanFilePath(sent.replace(/\/+$/, '')));
const commitId = z.string().regex(/^[0-9a-fA-F]{5,40}$/, 'parentCommit must be the id of a commit');

const line = z.discriminatedUnion('key', [
  z.object({
    key: z.literal('header'),
    value: z.object({
      summary: z.string().max(1000).default(''),
      description: z.string().max(65_536).nullish(),
      parentCommit: commitId.nullish(),
    }),
  }),
  z.object({
    key: z.literal('file'),
    value: z.object({ path, content: z.string(), encoding: z.enum(['base64', 'utf-8']).default('utf-8') }),
  }),
  z.object({
    key: z.literal('lfsFile'),
    value: z.object({
      path,
      algo: z.literal('sha256').default('sha256'),
      oid: z.string().regex(/^[0-9a-f]{64}$/, 'oid must be a SHA-256 in hexadecimal'),
    }),
  }),
  z.object({ key: z.literal('deletedFile'), value: z.object({ path }) }),
  z.object({ key: z.literal('deletedFolder'), value: z.object({ path: folder }) }),
  z.object({
    key: z.literal('copyFile'),
    value: z.object({ path, srcPath: z.string().min(1), srcRevision: z.string().min(1).nullish() }),
  }),
]);

/** One line of the body of a commit. */
export type CommitLine = z.output<typeof line>;

/** Parses a line. Its number is used in errors. Throws AppError('invalid_request') if it is invalid. */
export function parseCommitLine(text: string, number: number): CommitLine {
  const parsed = line.safeParse(parseJson(text, number));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = issue?.path.at(-1)?.toString() || 'key';
  throw invalidParam(param, `Line ${number} of the commit: ${param} ${issue?.message ?? 'is not valid'}`);
}

function parseJson(text: string, number: number): unknown {
  try {
    return parseLine({ text, number }, 'key');
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw invalidParam('key', `Line ${number} of the commit is not JSON`, cause);
  }
}
