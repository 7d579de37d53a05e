import type { InputOf } from '@bakehouse/contract/endpoint';
import type { verifyLfsObject as endpoint } from '@bakehouse/contract/hub/lfs';
import type { Context } from '../../../platform/context.ts';
import { refused } from '../../../platform/errors.ts';
import { findUploaded } from './find-uploaded.ts';

/** Checks that the caller has uploaded these bytes completely. Throws AppError('invalid_request'). */
export async function verifyObject(
  ctx: Context,
  { body: { oid, size } }: InputOf<typeof endpoint>,
): Promise<{ success: true }> {
  const { sizeBytes } = await findUploaded(ctx, oid);
  if (sizeBytes === size) return { success: true };
  throw refused('size', `The file has ${sizeBytes} bytes, not ${size}`);
}
