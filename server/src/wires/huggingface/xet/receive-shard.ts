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

/** Maximum size that clients create. */
const SHARD_BYTES_MAX = 66 * 1024 * 1024;
/** Well under the client's idle timeout. */
const BEAT_MS = 10_000;
/** Concurrent shards per user: one being processed, and the same one sent again. */
const held = fairQueue(Number.POSITIVE_INFINITY, { perKey: 2 });
const making = fairQueue(Number.POSITIVE_INFINITY, { perKey: 1 });
/** Base time limit for a shard, plus time for the size of its files. */
const MAKING_MS = 10 * 60_000;
const BYTES_PER_MS = 4 * 1024;

/** Progress over the files of a shard; `total` is 0 until the shard is read. */
type Progress = { verified: number; total: number };

/**
 * Assembles the files of a shard from the xorbs that the caller has sent, and stores them for the caller
 * until a commit references them. Skips files that the caller already stores. Throws AppError
 * 'invalid_request' for an invalid shard and for missing xorbs, 'payload_too_large' beyond the file limit or
 * the user's quota, and 'unavailable' under load.
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

/**
 * Like `receiveShard`, but returns its progress line by line: a large file takes longer than a client's idle
 * timeout.
 */
export async function streamShard(
  ctx: Context,
  { params: { session } }: InputOf<typeof streamEndpoint>,
  http: Http,
): Promise<Answer> {
  const { work, progress } = await receiveParsedShard(ctx, session, http);
  const lines = Readable.from(tellProgress(ctx, work, progress));
  return new Answer(lines, { headers: { 'content-type': 'application/x-ndjson' } });
}

/** Receives a shard and starts assembling its files. */
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
    // Client errors must be reported before the response starts.
    if (shard.sizeBytes === 0) throw invalidParam('shard', 'The body is empty. Send a shard');
    const work = makeFiles(ctx, { session, shard, progress, client }).finally(leave);
    // Avoids an unhandled rejection if it fails before it is awaited.
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
 * Assembles the files of a shard. A shard that is sent again waits for the first one and then finds its
 * files.
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

/** Returns the files of a shard, after checking that all xorbs it names exist. */
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

/**
 * Assembles the next file of a shard unless the caller already stores it. Always consumes all of its terms.
 */
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

/** Yields the terms up to the end of their file. */
async function* nextTerms(parts: AsyncGenerator<ShardPart, void>): AsyncGenerator<Term> {
  for (let next = await parts.next(); !next.done && 'term' in next.value; next = await parts.next())
    yield next.value.term;
}

async function* readTerms(terms: AsyncGenerator<Term>, readTerm: ReadTerm): AsyncGenerator<Buffer> {
  for await (const term of terms) yield* readTerm(term);
}
