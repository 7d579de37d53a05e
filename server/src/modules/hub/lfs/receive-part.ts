import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/lfs';
import type { Services } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { limitTime } from '../../../platform/http/bodies/limit-time.ts';
import { completeUpload } from '../../../platform/storage/uploads/complete-upload.ts';
import { receivePart as receive } from '../../../platform/storage/uploads/receive-part.ts';
import { requireUpload } from '../../../platform/storage/uploads/require-upload.ts';
import { countParts } from '../../../platform/storage/uploads/upload.ts';
import { checkSignature } from './sign-upload.ts';

/**
 * Receives a part of an upload; a single part that holds the whole file completes it. Throws HubError, and
 * the errors of the upload.
 */
export async function receivePart(
  services: Services,
  { params: { uploadId, number }, query }: InputOf<typeof contract.putLfsPart>,
  { request, reply }: Http,
): Promise<ResponseOf<typeof contract.putLfsPart>> {
  await checkSignature(services, { uploadId, ...query });
  const who = { uploadId, userId: query.by };
  limitTime(request, {});
  try {
    const { sha256 } = await receive(services, { ...who, number, sha256: null, bytes: request.raw });
    if (countParts(await requireUpload(services.db, who)) === 1) await completeUpload(services, who);
    // The client names the part by its ETag when it completes the file.
    reply.header('etag', `"${sha256}"`);
    return { sha256 };
  } catch (error) {
    // An unread body would block the connection.
    request.raw.resume();
    throw error;
  }
}

/**
 * Assembles the parts of an upload into a file; idempotent. Throws HubError, and the errors of
 * `completeUpload`.
 */
export async function completeParts(
  services: Services,
  { params: { uploadId }, query }: InputOf<typeof contract.completeLfsUpload>,
): Promise<{ success: true }> {
  await checkSignature(services, { uploadId, ...query });
  await completeUpload(services, { uploadId, userId: query.by });
  return { success: true };
}
