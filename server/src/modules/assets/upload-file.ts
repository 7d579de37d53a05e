import { Readable } from 'node:stream';
import type { uploadFile as endpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { FILE_SIZE_LIMIT_BYTES, FILE_SIZE_LIMIT_MESSAGE } from '@bakehouse/contract/limits';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import type { Blob } from '../../platform/storage/blob-store.ts';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { addRevision } from './add-revision.ts';
import { cleanFileName } from './clean-file-name.ts';
import { findChangeableAsset, lockChangeableAsset } from './find-asset.ts';
import { findNewestFile } from './queries.ts';
import { toWireFile } from './to-wire.ts';
import { checkWeights } from './weights/check-weights.ts';

const PART = 'data_file';
/** What a multipart body has around the file. */
const ENVELOPE_BYTES = 64 * 1024;

/**
 * Adds the file of a multipart request to an asset of the caller. The bytes go to the store as
 * they come; the file shows up in one transaction at the end, as a new revision, in place of a
 * file of the same name. The same bytes under the same name again change nothing.
 */
export async function uploadFile(
  ctx: Context,
  input: { assetId: string; request: FastifyRequest },
): Promise<ResponseOf<typeof endpoint>> {
  const who = { assetId: input.assetId, userId: ctx.caller.userId };
  await findChangeableAsset(ctx.db, who);
  const { name, blob } = await receiveFile(ctx, input.request);
  await checkWeights(await ctx.blobs.localPath(blob.sha256), name);

  return inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, who);
    const present = await findNewestFile(tx, asset.id, name);
    if (present?.sha256 === blob.sha256 && asset.revision_id) {
      return { file: toWireFile(present), revision_id: asset.revision_id };
    }
    const revisionId = await addRevision(tx, asset, { put: [{ path: name, ...blob }], remove: [] });
    const file = await findNewestFile(tx, asset.id, name);
    if (!file) throw new Error(`${name} is not in the revision that was made for it`);
    return { file: toWireFile(file), revision_id: revisionId };
  });
}

async function receiveFile(ctx: Context, request: FastifyRequest): Promise<{ name: string; blob: Blob }> {
  try {
    const { part, rest } = await receivePart(request);
    const name = cleanFileName(part.filename);
    const blob = await storeBlob(ctx, Readable.from(wholeFile(part.file, name, rest)), {
      sizeBytesMax: FILE_SIZE_LIMIT_BYTES,
      tooLargeMessage: FILE_SIZE_LIMIT_MESSAGE,
    });
    return { name, blob };
  } catch (error) {
    // What is still on its way has to be read, or the connection would stand still for ever.
    request.raw.unpipe();
    request.raw.resume();
    throw error;
  }
}

/** The file, and the parts behind it, which are read only after the file. */
async function receivePart(
  request: FastifyRequest,
): Promise<{ part: MultipartFile; rest: AsyncIterableIterator<Multipart> }> {
  if (!request.isMultipart()) throw badUpload('Send the file as multipart/form-data');
  if (Number(request.headers['content-length'] ?? 0) > FILE_SIZE_LIMIT_BYTES + ENVELOPE_BYTES) {
    throw new AppError('payload_too_large', { publicMessage: FILE_SIZE_LIMIT_MESSAGE });
  }
  const rest = request.parts();
  for (let next = await readPart(rest); !next.done; next = await readPart(rest)) {
    if (next.value.type === 'field') continue;
    if (next.value.fieldname === PART) return { part: next.value, rest };
    break;
  }
  throw badUpload(`Send the file in a part named ${PART}`);
}

/**
 * The bytes of the file. Its last ones pass only once the whole request is there, so that the
 * store keeps nothing of one that is cut.
 */
async function* wholeFile(
  bytes: AsyncIterable<Buffer>,
  name: string,
  rest: AsyncIterableIterator<Multipart>,
): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const chunk of bytes) {
    isEmpty &&= chunk.length === 0;
    yield chunk;
  }
  if (isEmpty) throw badUpload(`${name} is empty`);
  for (let next = await readPart(rest); !next.done; next = await readPart(rest)) {
    if (next.value.type === 'file') throw badUpload('Send one file per request');
  }
}

async function readPart(parts: AsyncIterableIterator<Multipart>): Promise<IteratorResult<Multipart>> {
  try {
    return await parts.next();
  } catch (cause) {
    const isSecondFile = cause instanceof Error && 'code' in cause && cause.code === 'FST_FILES_LIMIT';
    throw badUpload(isSecondFile ? 'Send one file per request' : 'The multipart body cannot be read', cause);
  }
}

function badUpload(publicMessage: string, cause?: unknown): AppError {
  return new AppError('invalid_request', { publicMessage, param: PART, cause });
}
