import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  CAPTIONS_MAX,
  type Captions,
  type getCaptions as getCaptionsEndpoint,
  type saveCaptions as saveCaptionsEndpoint,
} from '@bakehouse/contract/captions';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, conflict, invalidParam, preconditionFailed } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { findChangeableAsset } from '../../assets/access/changeable.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { commitFiles } from '../../assets/revisions/commit-files.ts';
import { findHead } from '../../assets/revisions/commits.ts';
import { type CaptionLine, readCaptionLines, words, writeCaptionLines } from './caption-lines.ts';

const METADATA = 'metadata.jsonl';

/** Image formats that training accepts. Keep in step with the runtime's captioned.py. */
const PICTURE = '\\.(png|jpe?g|webp|bmp|gif|tiff?)$';

const TEXT_BYTES_MAX = 16_384;
const METADATA_BYTES_MAX = 16 * 1024 * 1024;
const AT_ONCE = 16;

/** Returns the captions of a dataset that the caller may read. Throws the errors of `readCaptions`. */
export async function getCaptions(
  ctx: Context,
  { params }: InputOf<typeof getCaptionsEndpoint>,
): Promise<ResponseOf<typeof getCaptionsEndpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const { content: _, textFiles: __, ...captions } = await readCaptions(ctx, asset);
  return captions;
}

type File = AssetRevision['files'][number];

type ReadCaptions = Captions & {
  /** Content of metadata.jsonl; empty if the dataset has none. */
  content: string;
  /** Paths of the existing caption files. */
  textFiles: ReadonlySet<string>;
};

/**
 * Returns the captions of all pictures in the newest revision. If there is a `metadata.jsonl`, its lines are
 * the captions. Pictures that it does not list have an empty caption, and are left out if the lines are
 * edits. Without it, each picture's caption is in a text file with the picture's name. Throws AppError
 * 'conflict' if a caption file cannot be read, or if there are too many pictures.
 */
async function readCaptions(ctx: Context, asset: AssetRow): Promise<ReadCaptions> {
  const { commitId: commit_id, revisionId: revision_id } = await findHead(ctx.db, asset);
  const none = { commit_id, revision_id, file_name: null, captions: [], content: '', textFiles: new Set('') };
  if (revision_id === null) return none;
  const own = { assetId: asset.id, revisionId: revision_id, userId: ctx.caller.userId };
  const limit = CAPTIONS_MAX + 1;
  const { files: pictures } = await readRevision(ctx.db, { ...own, matching: PICTURE, limit });
  if (pictures.length > CAPTIONS_MAX)
    throw conflict(
      `The dataset has more than ${CAPTIONS_MAX} pictures: write their captions into a ${METADATA}`,
    );
  const paths = [METADATA, ...pictures.map(({ path }) => captionFile(path))];
  const { files: texts } = await readRevision(ctx.db, { ...own, paths });
  const metadata = texts.find(({ path }) => path === METADATA);
  if (metadata) {
    const content = await readText(ctx, metadata, METADATA_BYTES_MAX);
    const lines = readCaptionLines(content, METADATA);
    if (typeof lines === 'string') throw unreadable(lines);
    return { ...none, file_name: METADATA, content, captions: withUnlisted(lines, pictures) };
  }
  const found = new Map<string, string>();
  for (let at = 0; at < texts.length; at += AT_ONCE) {
    const part = texts.slice(at, at + AT_ONCE);
    const read = await Promise.all(part.map((file) => readText(ctx, file, TEXT_BYTES_MAX)));
    for (const [index, { path }] of part.entries()) found.set(path, words(read[index] ?? ''));
  }
  return {
    ...none,
    textFiles: new Set(texts.map(({ path }) => path)),
    captions: pictures.map(({ path }) => ({ path, line: null, text: found.get(captionFile(path)) ?? '' })),
  };
}

/** Returns the path of the caption file of a picture. */
function captionFile(picture: string): string {
  return picture.replace(/\.[^./]+$/, '.txt');
}

/**
 * Adds the pictures without a line. If any line is an edit, adds none, because an edit needs a line with its
 * source image.
 */
function withUnlisted(lines: CaptionLine[], pictures: readonly File[]): Captions['captions'] {
  const listed = lines.map(({ path, line, text }) => ({ path, line, text }));
  if (lines.some(({ isEdit }) => isEdit)) return listed;
  const known = new Set(lines.map(({ path }) => path));
  const others = pictures.filter(({ path }) => !known.has(path));
  return [...listed, ...others.map(({ path }) => ({ path, line: null, text: '' }))];
}

async function readText(ctx: Context, { path, sha256, sizeBytes }: File, bytesMax: number): Promise<string> {
  if (sizeBytes > bytesMax) throw unreadable(`${path} has more than ${formatBytes(bytesMax)}`);
  if (sizeBytes === 0) return '';
  const bytes = await buffer(await readBlob(ctx, { sha256, path }));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(`${path} is not UTF-8 text`, cause);
  }
}

function unreadable(why: string, cause?: unknown): AppError {
  return conflict(`${why}. Correct it, and upload it again`, { cause });
}

type Changes = InputOf<typeof saveCaptionsEndpoint>['body']['captions'];

type TextFiles = { put: Map<string, string>; remove: Set<string> };

/**
 * Saves captions of the caller's dataset in one commit. Writes them where the dataset's captions are: in
 * `metadata.jsonl` or in text files. Throws AppError 'precondition_failed' if there is a newer commit,
 * 'invalid_request' for an unknown picture, 'payload_too_large' above the user's quota, and the errors of
 * `readCaptions`.
 */
export async function saveCaptions(
  ctx: Context,
  { params, body }: InputOf<typeof saveCaptionsEndpoint>,
): Promise<ResponseOf<typeof saveCaptionsEndpoint>> {
  const who = { assetId: params.id, userId: ctx.caller.userId };
  const read = await readCaptions(ctx, await findChangeableAsset(ctx.db, who));
  if (read.commit_id !== body.parent_commit) throw stale();
  assertKnownPictures(read, body.captions);
  // If a caption is changed twice, the last change counts.
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

function assertKnownPictures({ captions }: ReadCaptions, changes: Changes): void {
  const known = new Set(captions.map(({ path, line }) => `${line} ${path}`));
  const stranger = changes.find(({ path, line }) => !known.has(`${line} ${path}`));
  if (stranger) throw invalidParam('captions', `${stranger.path} is not a captioned picture of this dataset`);
}

function changedFiles(read: ReadCaptions, changes: Changes): TextFiles {
  if (read.file_name !== null) {
    const content = writeCaptionLines(read.content, read.file_name, changes);
    return { put: new Map([[read.file_name, content]]), remove: new Set() };
  }
  const files: TextFiles = { put: new Map(), remove: new Set() };
  const captionTexts = new Map<string, { path: string; text: string }>();
  for (const { path, text } of changes) {
    const file = captionFile(path);
    const other = captionTexts.get(file);
    if (other && words(other.text) !== words(text))
      throw invalidParam('captions', `${other.path} and ${path} share ${file}: rename one of them`);
    captionTexts.set(file, { path, text });
    if (words(text) !== '') files.put.set(file, `${words(text)}\n`);
    else if (read.textFiles.has(file)) files.remove.add(file);
  }
  return files;
}

function stale(cause?: unknown): AppError {
  return preconditionFailed(
    'The files changed after you started editing. Nothing was saved: review the current captions, then save again',
    { param: 'parent_commit', shouldRetry: false, cause },
  );
}
