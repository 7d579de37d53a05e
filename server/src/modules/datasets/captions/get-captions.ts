import type { getCaptions as endpoint } from '@bakehouse/contract/captions';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import { readCaptions } from './read-captions.ts';

/** Returns the captions of a dataset that the caller may read. Throws the errors of `readCaptions`. */
export async function getCaptions(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const { content: _, textFiles: __, ...captions } = await readCaptions(ctx, asset);
  return captions;
}
