import { Readable } from 'node:stream';
import type { downloadFile as endpoint } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { parseRange } from '../../platform/http/parse-range.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { findReadableAsset } from './find-asset.ts';
import { type FileRow, findNewestFile, findRevision, listFiles } from './queries.ts';

/**
 * Writes the bytes of one file, or the range asked for, to the reply. They are named by their
 * SHA-256 (ETag), so that a download can be resumed and a copy reused.
 */
export async function downloadFile(
  ctx: Context,
  input: InputOf<typeof endpoint>,
  { request, reply }: Http,
): Promise<void> {
  const file = await findFile(ctx, input);
  const sizeBytes = Number(file.size_bytes);
  const etag = `"${file.sha256}"`;
  reply.headers({
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${encodeFileName(file.path.split('/').at(-1) ?? file.path)}`,
  });
  if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim() === etag)) {
    await reply.code(304).send();
    return;
  }

  const ifRange = request.headers['if-range'];
  const range =
    ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, sizeBytes) : null;
  if (range === 'unsatisfiable') {
    await reply.code(416).header('content-range', `bytes */${sizeBytes}`).send();
    return;
  }
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  reply.header('content-length', range ? range.end - range.start + 1 : sizeBytes);
  // With no body at all the framework would state a length of 0.
  const bytes =
    request.method === 'HEAD'
      ? Readable.from([])
      : await readBlob(ctx, { sha256: file.sha256, path: file.path, range: range ?? undefined });
  await reply.send(bytes);
}

async function findFile(ctx: Context, { params, query }: InputOf<typeof endpoint>): Promise<FileRow> {
  const asset = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const path = params['*'];
  const file = query.revision_id
    ? await findFileOfRevision(ctx, { assetId: asset.id, revisionId: query.revision_id, path })
    : await findNewestFile(ctx.db, asset.id, path);
  if (!file) throw new AppError('not_found', { publicMessage: `There is no file ${path}` });
  return file;
}

async function findFileOfRevision(
  ctx: Context,
  input: { assetId: string; revisionId: string; path: string },
): Promise<FileRow | undefined> {
  const revision = await findRevision(ctx.db, input.assetId, input.revisionId);
  if (!revision)
    throw new AppError('not_found', {
      publicMessage: 'This asset has no such revision',
      param: 'revision_id',
    });
  const [file] = await listFiles(ctx.db, input.assetId, revision.number, input.path);
  return file;
}

/** RFC 8187: what encodeURIComponent leaves alone, less the four that the header gives a meaning. */
function encodeFileName(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
