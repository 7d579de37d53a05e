import { buffer } from 'node:stream/consumers';
import { CAPTIONS_MAX, type Captions } from '@bakehouse/contract/captions';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { findHead } from '../../assets/revisions/find-commit.ts';
import { type CaptionLine, readCaptionLines, words } from './caption-lines.ts';

export const METADATA = 'metadata.jsonl';
/** Image formats that training accepts (captioned.py). */
const PICTURE = '\\.(png|jpe?g|webp|bmp|gif|tiff?)$';
const TEXT_BYTES_MAX = 16_384;
const METADATA_BYTES_MAX = 16 * 1024 * 1024;
const AT_ONCE = 16;

type File = AssetRevision['files'][number];

export type ReadCaptions = Captions & {
  /** Content of the metadata file; empty if the dataset has none. */
  content: string;
  /** Existing text files. */
  textFiles: ReadonlySet<string>;
};

/**
 * Returns the caption of each picture in the newest revision. Reads the lines of `metadata.jsonl` if it
 * exists (plus unlisted pictures, unless the lines are edits), else the text file named after each picture.
 * Throws AppError 'conflict' if a caption file cannot be read or there are too many pictures.
 */
export async function readCaptions(ctx: Context, asset: AssetRow): Promise<ReadCaptions> {
  const { commitId: commit_id, revisionId: revision_id } = await findHead(ctx.db, asset);
  const none = { commit_id, revision_id, file_name: null, captions: [], content: '', textFiles: new Set('') };
  if (revision_id === null) return none;
  const own = { assetId: asset.id, revisionId: revision_id, userId: ctx.caller.userId };
  const limit = CAPTIONS_MAX + 1;
  const { files: pictures } = await readRevision(ctx.db, { ...own, matching: PICTURE, limit });
  if (pictures.length > CAPTIONS_MAX)
    throw new AppError('conflict', {
      publicMessage: `The dataset has more than ${CAPTIONS_MAX} pictures: write their captions into a ${METADATA}`,
    });
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
export function captionFile(picture: string): string {
  return picture.replace(/\.[^./]+$/, '.txt');
}

/** An edit needs a source image in its line, so an unlisted picture cannot be an edit. */
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
  return new AppError('conflict', { publicMessage: `${why}. Correct it, and upload it again`, cause });
}
