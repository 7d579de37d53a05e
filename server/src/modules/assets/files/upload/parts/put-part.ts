import type { putUploadPart as endpoint } from '@bakehouse/contract/asset-uploads';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../../platform/context.ts';
import type { Http } from '../../../../../platform/http/bind.ts';
import { receiveBytes } from '../../../../../platform/http/bodies/receive-bytes.ts';
import { receivePart } from '../../../../../platform/storage/uploads/receive-part.ts';
import { enterUpload } from '../upload-slots.ts';
import { findUpload } from './find-upload.ts';

/**
 * Receives one part of an upload of the caller. Throws the errors of `receivePart`, AppError
 * 'unauthenticated' if the API key ends in the meantime, and 'rate_limited' if the user has too many running.
 */
export async function putPart(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
  { request }: Pick<Http, 'request'>,
): Promise<ResponseOf<typeof endpoint>> {
  const leave = enterUpload(ctx);
  try {
    await findUpload(ctx, params);
    return await receiveBytes(ctx, request, async (bytes) => {
      const { uploadId, number } = params;
      const part = await receivePart(ctx, {
        uploadId,
        userId: ctx.caller.userId,
        number,
        sha256: query.sha256,
        bytes,
      });
      return { number: part.number, sha256: part.sha256, size_bytes: part.sizeBytes };
    });
  } finally {
    leave();
  }
}
