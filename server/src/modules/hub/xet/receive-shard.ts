import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { putShard as endpoint, streamShard as streamEndpoint } from '@bakehouse/contract/hub/xet';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { receiveBytes } from '../../../platform/http/bodies/receive-bytes.ts';
import { ownsBlob } from '../../../platform/storage/owner-queries.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { keepUpload } from '../../../platform/storage/uploads/keep-upload.ts';
import { withBlobFile } from '../../../platform/storage/with-blob-file.ts';
import { keepWithinQuota } from '../../assets/files/keep-within-quota.ts';
import { refuseLarge } from '../../assets/files/upload/parts/get-upload-limits.ts';
import { parseShard, type ShardFile } from './parse-shard.ts';
import { listPieces, readPiece } from './read-pieces.ts';
import { findXorb } from './xorb-queries.ts';

/** As large as the clients make them. */
const SHARD_BYTES_MAX = 66 * 1024 * 1024;
/** Well below what a client waits for a word. */
const BEAT_MS = 10_000;
/** A xorb is in memory while a file is made of it. */
const making = fairQueue(2, { perKey: 1 });

/**
 * Makes the files of a shard of the xorbs that the caller has sent, and keeps them for the caller until a commit names them.
 * Those that the caller has are not made again. Throws AppError 'invalid_request' for a shard that is none, and for one that
 * names what was not sent, and 'payload_too_large' beyond a file's limit or the user's quota.
 */
export async function receiveShard(
  ctx: Context,
  { params: { session } }: InputOf<typeof endpoint>,
  { request }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const files = parseShard(await receiveBytes(ctx, request, readAll));
  await makeFiles(ctx, session, files);
  return { result: 1 };
}

/** The same, which answers line by line how far it is: a large file takes longer than a client waits in silence. */
export async function streamShard(
  ctx: Context,
  { params: { session } }: InputOf<typeof streamEndpoint>,
  { request, reply }: Http,
): Promise<void> {
  const files = parseShard(await receiveBytes(ctx, request, readAll));
  await reply.type('application/x-ndjson').send(Readable.from(tellProgress(ctx, session, files)));
}

async function* tellProgress(ctx: Context, session: string, files: ShardFile[]): AsyncGenerator<string> {
  let verified = 0;
  const work = makeFiles(ctx, session, files, () => {
    verified += 1;
  }).then(
    () => ({ type: 'result' }),
    (error: unknown) => toFailure(ctx, error),
  );
  for (;;) {
    const beat = new AbortController();
    const silence = pause(BEAT_MS, null, { signal: beat.signal }).catch(() => null);
    const end = await Promise.race([work, silence]);
    beat.abort();
    yield `${JSON.stringify(end ?? { type: 'validating', verified, total: files.length })}\n`;
    if (end) return;
  }
}

function toFailure({ log }: Context, error: unknown): { type: 'error'; message: string; retryable: boolean } {
  if (error instanceof AppError)
    return { type: 'error', message: error.publicMessage, retryable: error.status >= 500 };
  log.error({ err: error }, 'the files of a shard could not be made');
  return { type: 'error', message: 'Something went wrong on our side. Please try again.', retryable: true };
}

/** A client that has sent a shard again waits for its turn: then its files are there. */
async function makeFiles(
  ctx: Context,
  session: string,
  files: ShardFile[],
  onFile: () => void = () => undefined,
): Promise<void> {
  await making.run(ctx.caller.userId, async () => {
    for (const file of files) {
      await makeFile(ctx, session, file);
      onFile();
    }
  });
}

async function readAll(bytes: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > SHARD_BYTES_MAX)
      throw new AppError('payload_too_large', { publicMessage: 'A shard has at most 64 MiB' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function makeFile(
  ctx: Context,
  session: string,
  { sha256, sizeBytes, terms }: ShardFile,
): Promise<void> {
  const { userId } = ctx.caller;
  if (sizeBytes === 0 || (sha256 !== null && (await ownsBlob(ctx.db, userId, sha256)))) return;
  refuseLarge(ctx.config, { sizeBytes, param: 'shard' });
  const bytes = Readable.from(readTerms(ctx, session, terms), { objectMode: false });
  const blob = await storeBlob(ctx, bytes, { sizeBytesMax: sizeBytes, expectedBytes: sizeBytes });
  if (blob.sizeBytes !== sizeBytes || (sha256 !== null && blob.sha256 !== sha256))
    throw refused('shard', 'The pieces do not make the file that the shard names');
  await inTransaction(ctx.db, async (tx) => {
    await keepWithinQuota(tx, ctx.config, { userId, blob, param: 'shard' });
    await keepUpload(tx, { userId, blob });
  });
}

/** The bytes of a file, piece by piece; the xorb at hand is in memory. */
async function* readTerms(ctx: Context, session: string, terms: ShardFile['terms']): AsyncGenerator<Buffer> {
  let hash = '';
  let xorb: Buffer = Buffer.alloc(0);
  let pieces = listPieces(xorb);
  for (const { xorb: wanted, start, end } of terms) {
    if (wanted !== hash) {
      xorb = await readXorb(ctx, session, wanted);
      pieces = listPieces(xorb);
      hash = wanted;
    }
    if (end > pieces.length) throw refused('shard', 'The shard names pieces that its xorb has not');
    for (const piece of pieces.slice(start, end)) yield readPiece(xorb, piece);
  }
}

async function readXorb(ctx: Context, session: string, hash: string): Promise<Buffer> {
  const sha256 = await findXorb(ctx.db, { userId: ctx.caller.userId, session, hash });
  if (sha256 === undefined) throw refused('shard', `The shard names the xorb ${hash}, which was not sent`);
  return withBlobFile(ctx, { sha256, path: hash }, (localPath) => readFile(localPath));
}
