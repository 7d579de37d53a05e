import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { putXorb as endpoint } from '@bakehouse/contract/hub/xet';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { refused } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { receiveBytes } from '../../../platform/http/bodies/receive-bytes.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { keepWithinQuota } from '../../assets/files/keep-within-quota.ts';
import { findXorb, insertXorb } from './xorb-queries.ts';

/** The protocol has at most 64 MiB of pieces, and something to describe them. */
const XORB_BYTES_MAX = 72 * 1024 * 1024;

/** Takes in a xorb of the caller; one that is there is not taken again. Throws AppError 'payload_too_large'. */
export async function receiveXorb(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
  { request }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const name = { userId, ...params };
  if ((await findXorb(ctx.db, name)) !== undefined) {
    request.raw.resume();
    return { was_inserted: false };
  }
  const limits = { sizeBytesMax: XORB_BYTES_MAX, tooLargeMessage: 'A xorb has at most 64 MiB' };
  const blob = await receiveBytes(ctx, request, (bytes) => storeBlob(ctx, bytes, limits));
  if (blob.sizeBytes === 0) throw refused('xorb', 'The xorb is empty');
  await inTransaction(ctx.db, async (tx) => {
    await keepWithinQuota(tx, ctx.config, { userId, blob, param: 'xorb' });
    await insertXorb(tx, name, blob);
  });
  return { was_inserted: true };
}
