import { Readable } from 'node:stream';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { putXorb as endpoint } from '@bakehouse/contract/hub/xet';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Context, Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { receiveBytes } from '../../../platform/http/bodies/receive-bytes.ts';
import { lockStoredBytes } from '../../../platform/storage/owner-queries.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { collectHeaders } from './read-pieces.ts';
import { hasXorb, insertXorb, sumXorbs } from './xorb-queries.ts';

/** The protocol allows 64 MiB of chunks, plus metadata. */
const XORB_BYTES_MAX = 72 * 1024 * 1024;

/**
 * Receives a xorb of the caller; ignores an existing xorb. Xorbs don't count against the quota, but their
 * total has the same limit. Throws AppError 'payload_too_large'.
 */
export async function receiveXorb(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
  { request }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const name = { userId, ...params };
  if (await hasXorb(ctx.db, name)) {
    request.raw.resume();
    return { was_inserted: false };
  }
  const headers: Buffer[] = [];
  const blob = await receiveBytes(ctx, request, async (bytes) => {
    await refuseManyXorbs(ctx.db, ctx.config, { userId, sizeBytes: 0 });
    return storeBlob(ctx, Readable.from(collectHeaders(bytes, headers)), {
      sizeBytesMax: XORB_BYTES_MAX,
      tooLargeMessage: 'A xorb has at most 64 MiB',
    });
  });
  if (blob.sizeBytes === 0) throw refused('xorb', 'The xorb is empty');
  await inTransaction(ctx.db, async (tx) => {
    await lockStoredBytes(tx, userId);
    await refuseManyXorbs(tx, ctx.config, { userId, sizeBytes: blob.sizeBytes });
    await insertXorb(tx, name, { ...blob, headers: Buffer.concat(headers) });
  });
  return { was_inserted: true };
}

async function refuseManyXorbs(
  db: Database | Transaction,
  { storageGb }: Services['config'],
  { userId, sizeBytes }: { userId: string; sizeBytes: number },
): Promise<void> {
  const limitBytes = storageGb * 1024 ** 3;
  if (limitBytes === 0 || (await sumXorbs(db, userId)) + sizeBytes <= limitBytes) return;
  throw new AppError('payload_too_large', {
    publicMessage:
      `At most ${formatBytes(limitBytes)} may come by Xet within two days. ` +
      'Set HF_HUB_DISABLE_XET=1 to send this file by Git LFS, or try again in two days',
    param: 'xorb',
  });
}
