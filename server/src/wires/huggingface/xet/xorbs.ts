import { Readable } from 'node:stream';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  getXetWriteToken as getXetWriteTokenEndpoint,
  putXorb as putXorbEndpoint,
} from '@bakehouse/contract/hub/xet';
import { formatBytes } from '@bakehouse/contract/labels';
import type { FastifyRequest } from 'fastify';
import { deleteXorbsBefore, hasXorb, insertXorb, sumXorbs } from '../../../modules/hub/stored-xorbs.ts';
import type { Context, Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { invalidParam, payloadTooLarge } from '../../../platform/errors.ts';

import { receiveBytes } from '../../../platform/http/bodies/read-body.ts';
import { readKey } from '../../../platform/http/callers/find-caller.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { lockStoredBytes } from '../../../platform/storage/owner-queries.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { openWritableBranch } from '../commits/refs.ts';
import { hubUrl } from '../next-page.ts';
import { collectHeaders } from './read-pieces.ts';

/** A client uses its xorbs within a session of one day, which may last into the next day. */
const KEPT_MS = 2 * 24 * 60 * 60 * 1000;

/** Every night, deletes old xorbs, whose files have been assembled by then. */
export const deleteXorbsJob = defineJob({
  name: 'hub.forget-xorbs',
  schedule: '17 2 * * *',
  run: ({ clock, db }: Pick<Services, 'clock' | 'db'>) =>
    deleteXorbsBefore(db, new Date(clock.now().getTime() - KEPT_MS)),
});

/** The protocol allows 64 MiB of chunks, to which metadata is added. */
const XORB_BYTES_MAX = 72 * 1024 * 1024;

/** Lifetime of an upload URL. Clients then request a new one. */
const LIFE_S = 60 * 60;

/**
 * Receives a xorb of the caller. Does nothing if the xorb already exists. Xorbs do not count against the
 * quota, but their total size has the same limit. Throws AppError 'payload_too_large'.
 */
export async function receiveXorb(
  ctx: Context,
  { params }: InputOf<typeof putXorbEndpoint>,
  request: FastifyRequest,
): Promise<ResponseOf<typeof putXorbEndpoint>> {
  const { userId } = ctx.caller;
  const name = { userId, ...params };
  if (await hasXorb(ctx.db, name)) {
    request.raw.resume();
    return { was_inserted: false };
  }
  const headers: Buffer[] = [];
  const blob = await receiveBytes(ctx, request, async (bytes) => {
    await assertXorbLimit(ctx.db, ctx.config, { userId, sizeBytes: 0 });
    return storeBlob(ctx, Readable.from(collectHeaders(bytes, headers)), {
      sizeBytesMax: XORB_BYTES_MAX,
      tooLargeMessage: 'A xorb has at most 64 MiB',
    });
  });
  if (blob.sizeBytes === 0) throw invalidParam('xorb', 'The xorb is empty');
  await inTransaction(ctx.db, async (tx) => {
    await lockStoredBytes(tx, userId);
    await assertXorbLimit(tx, ctx.config, { userId, sizeBytes: blob.sizeBytes });
    await insertXorb(tx, name, { ...blob, headers: Buffer.concat(headers) });
  });
  return { was_inserted: true };
}

async function assertXorbLimit(
  db: Database | Transaction,
  { storageGb }: Services['config'],
  { userId, sizeBytes }: { userId: string; sizeBytes: number },
): Promise<void> {
  const limitBytes = storageGb * 1024 ** 3;
  if (limitBytes === 0 || (await sumXorbs(db, userId)) + sizeBytes <= limitBytes) return;
  throw payloadTooLarge(
    `At most ${formatBytes(limitBytes)} can be uploaded by Xet within two days. ` +
      'Set HF_HUB_DISABLE_XET=1 to send this file by Git LFS, or try again in two days',
    { param: 'xorb' },
  );
}

/**
 * Returns the URL for uploading files to a repository; it contains the caller's key. Clients remember per URL
 * which chunks the server has. The URL changes each day, so that they forget chunks that were deleted. Throws
 * HubError.
 */
export async function startUpload(
  ctx: Context,
  { params, query }: InputOf<typeof getXetWriteTokenEndpoint>,
  request: FastifyRequest,
): Promise<ResponseOf<typeof getXetWriteTokenEndpoint>> {
  await openWritableBranch(ctx, { ...params, ...query });
  const now = ctx.clock.now();
  return {
    accessToken: readKey(request) ?? '',
    exp: Math.floor(now.getTime() / 1000) + LIFE_S,
    casUrl: `${hubUrl(request)}/xet/${now.toISOString().slice(0, 10)}`,
  };
}
