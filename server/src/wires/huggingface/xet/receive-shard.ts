import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { putShard as endpoint, streamShard as streamEndpoint } from '@bakehouse/contract/hub/xet';
import { assertBlobFitsQuota, assertFitsQuota } from '../../../modules/assets/files/storage-quota.ts';
import { assertFileSize } from '../../../modules/assets/files/upload/parts/uploads.ts';
import { hasXorb } from '../../../modules/hub/stored-xorbs.ts';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, invalidParam, unavailable } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/answer.ts';

import type { Http } from '../../../platform/http/bind.ts';
import { receiveBytes } from '../../../platform/http/bodies/read-body.ts';
import { type Blob, HashMismatch } from '../../../platform/storage/blob-store.ts';
import { ownsBlob } from '../../../platform/storage/owner-queries.ts';
import { withBlobFile } from '../../../platform/storage/read-blob.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { insertCompleteUpload } from '../../../platform/storage/uploads/uploads.ts';
import { readShard, type ShardFile, type ShardPart, type Term } from './read-shard.ts';
import { notSent, xorbReader } from './xorb-reader.ts';

/** Slightly more than the largest shard that clients create. */
const SHARD_BYTES_MAX = 66 * 1024 * 1024;
/** Interval of progress lines, much shorter than the client's idle timeout. */
const BEAT_MS = 10_000;
/** Two shards per user: one that is being processed, and the same one if the client sends it again. */
const held = fairQueue(Number.POSITIVE_INFINITY, { perKey: 2 });
const making = fairQueue(Number.POSITIVE_INFINITY, { perKey: 1 });
/** Minimum time for a shard; its files add time by their size. */
const MAKING_MS = 10 * 60_000;
const BYTES_PER_MS = 4 * 1024;

/** Number of files that were assembled, and of all files. `total` is 0 until the shard was read. */
type Progress = { verified: number; total: number };

/**
 * Assembles the files of a shard from xorbs that the caller has sent. The files belong to the caller until a
 * commit references them. Skips files that the caller already stores. Throws AppError 'invalid_request' if
 * the shard is invalid or xorbs are missing, 'payload_too_large' above the file limit or the user's quota,
 * and 'unavailable' under load.
 */
export async function receiveShard(
  ctx: Context,
  { params: { session } }: InputOf<typeof endpoint>,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { work } = await receiveParsedShard(ctx, session, http);
  await work;
  return { result: 1 };
}

/** Like `receiveShard`, but sends progress lines, because a large file exceeds clients' idle timeout. */
export async function streamShard(
  ctx: Context,
  { params: { session } }: InputOf<typeof streamEndpoint>,
  http: Http,
): Promise<Answer> {
  const { work, progress } = await receiveParsedShard(ctx, session, http);
  const lines = Readable.from(tellProgress(ctx, work, progress));
  return new Answer(lines, { headers: { 'content-type': 'application/x-ndjson' } });
}

/** Receives a shard and starts to assemble its files. */
async function receiveParsedShard(
  ctx: Context,
  session: string,
  { request, client: { signal: client } }: Http,
): Promise<{ work: Promise<void>; progress: Progress }> {
  const leave = held.enterNow(ctx.caller.userId);
  if (!leave) throw unavailable('Too many shards are being sent at the moment. Try again shortly');
  const progress = { verified: 0, total: 0 };
  try {
    const shard = await receiveBytes(ctx, request, (bytes) =>
      storeBlob(ctx, bytes, { sizeBytesMax: SHARD_BYTES_MAX, tooLargeMessage: 'A shard has at most 64 MiB' }),
    );
    // Check this before the response starts, while an error status is still possible.
    if (shard.sizeBytes === 0) throw invalidParam('shard', 'The body is empty. Send a shard');
    const work = makeFiles(ctx, { session, shard, progress, client }).finally(leave);
    // Prevents an unhandled rejection if `work` fails before the caller awaits it.
    work.catch(() => undefined);
    return { work, progress };
  } catch (error) {
    leave();
    throw error;
  }
}

async function* tellProgress(ctx: Context, work: Promise<void>, progress: Progress): AsyncGenerator<string> {
  const outcome = work.then(
    () => ({ type: 'result' }),
    (error: unknown) => toFailure(ctx, error),
  );
  for (;;) {
    const beat = new AbortController();
    const silence = pause(BEAT_MS, null, { signal: beat.signal }).catch(() => null);
    const end = await Promise.race([outcome, silence]);
    beat.abort();
    yield `${JSON.stringify(end ?? { type: 'validating', ...progress })}\n`;
    if (end) return;
  }
}

function toFailure({ log }: Context, error: unknown): { type: 'error'; message: string; retryable: boolean } {
  if (error instanceof AppError)
    return { type: 'error', message: error.publicMessage, retryable: error.status >= 500 };
  log.error({ err: error }, 'failed to assemble files of shard');
  return { type: 'error', message: 'Something went wrong on our side. Please try again.', retryable: true };
}

type Making = { session: string; shard: Blob; progress: Progress; client: AbortSignal };

/**
 * Assembles the files of a shard. If the same shard is sent again, the second call waits for the first one
 * and then finds its files.
 */
async function makeFiles(ctx: Context, { session, shard, progress, client }: Making): Promise<void> {
  const make = () =>
    withBlobFile(ctx, { sha256: shard.sha256, path: 'the shard' }, async (localPath) => {
      const files = await listFiles(ctx, { session, localPath, client });
      progress.total = files.length;
      const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
      const late = new AbortController();
      const timer = setTimeout(
        () => late.abort(unavailable('Making these files takes too long. Send the shard again')),
        MAKING_MS + sizeBytes / BYTES_PER_MS,
      );
      const signal = AbortSignal.any([client, late.signal]);
      const bytes = createReadStream(localPath);
      const parts = readShard(bytes);
      const readTerm = xorbReader(ctx, session, signal);
      try {
        for (const file of files) {
          signal.throwIfAborted();
          await makeFile(ctx, file, { terms: nextTerms(parts), readTerm });
          progress.verified += 1;
        }
      } finally {
        clearTimeout(timer);
        bytes.destroy();
      }
    });
  await making.run(ctx.caller.userId, make, client);
}

/** Returns the files of a shard. Throws if a xorb that the shard names does not exist. */
async function listFiles(
  ctx: Context,
  { session, localPath, client }: { session: string; localPath: string; client: AbortSignal },
): Promise<ShardFile[]> {
  const { userId } = ctx.caller;
  const files: ShardFile[] = [];
  const sent = new Set<string>();
  for await (const part of readShard(createReadStream(localPath, { signal: client }))) {
    if ('file' in part) files.push(part.file);
    else if (!sent.has(part.term.xorb)) {
      const hash = part.term.xorb;
      if (!(await hasXorb(ctx.db, { userId, session, hash }))) throw notSent(hash);
      sent.add(hash);
    }
  }
  return files;
}

type ReadTerm = ReturnType<typeof xorbReader>;

/** Assembles the next file of a shard unless the caller stores it. Reads all its terms in any case. */
async function makeFile(
  ctx: Context,
  { sha256, sizeBytes }: ShardFile,
  { terms, readTerm }: { terms: AsyncGenerator<Term>; readTerm: ReadTerm },
): Promise<void> {
  const { userId } = ctx.caller;
  if (sizeBytes === 0 || (sha256 !== null && (await ownsBlob(ctx.db, userId, sha256)))) {
    while (!(await terms.next()).done);
    return;
  }
  assertFileSize(ctx.config, { sizeBytes, param: 'shard' });
  await assertFitsQuota(ctx, { userId, sizeBytes, param: 'shard' });
  const bytes = Readable.from(readTerms(terms, readTerm), { objectMode: false });
  const others = () => invalidParam('shard', 'The pieces do not make the file that the shard names');
  const blob = await storeBlob(ctx, bytes, {
    ...{ sizeBytesMax: sizeBytes, expectedBytes: sizeBytes },
    ...(sha256 !== null && { expectedSha256: sha256 }),
  }).catch((error: unknown) => {
    throw error instanceof HashMismatch ? others() : error;
  });
  if (blob.sizeBytes !== sizeBytes) throw others();
  await inTransaction(ctx.db, async (tx) => {
    await assertBlobFitsQuota(tx, ctx.config, { userId, blob, param: 'shard' });
    await insertCompleteUpload(tx, { userId, blob });
  });
}

/** Yields the terms of one file. */
async function* nextTerms(parts: AsyncGenerator<ShardPart, void>): AsyncGenerator<Term> {
  for (let next = await parts.next(); !next.done && 'term' in next.value; next = await parts.next())
    yield next.value.term;
}

async function* readTerms(terms: AsyncGenerator<Term>, readTerm: ReadTerm): AsyncGenerator<Buffer> {
  for await (const term of terms) yield* readTerm(term);
}
