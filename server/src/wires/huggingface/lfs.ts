import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import type { verifyLfsObject as verifyLfsObjectEndpoint } from '@bakehouse/contract/hub/lfs';
import * as contract from '@bakehouse/contract/hub/lfs';
import type { RepositoryTypes } from '@bakehouse/contract/hub/shared';

import type { FastifyRequest } from 'fastify';
import { serverSecret } from '../../modules/accounts/sign-in/server-secret.ts';
import { isKeyLive } from '../../modules/accounts/steps.ts';
import { assertUploadFitsQuota } from '../../modules/assets/files/storage-quota.ts';
import { assertFileSize } from '../../modules/assets/files/upload/parts/uploads.ts';
import type { Context, Services } from '../../platform/context.ts';
import { invalidParam } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import { limitTime } from '../../platform/http/bodies/body-limits.ts';
import { isSameSecret, signatureOf } from '../../platform/signature.ts';
import type { Blob } from '../../platform/storage/blob-store.ts';
import { ownsBlob } from '../../platform/storage/owner-queries.ts';
import { completeUpload } from '../../platform/storage/uploads/complete-upload.ts';
import { findWhole } from '../../platform/storage/uploads/find-whole.ts';
import { selectAnnounced } from '../../platform/storage/uploads/queries.ts';
import { receivePart as receive } from '../../platform/storage/uploads/receive-part.ts';
import { countParts, type Upload } from '../../platform/storage/uploads/upload.ts';
import { openUpload, requireUpload } from '../../platform/storage/uploads/uploads.ts';
import { openWritableBranch } from './commits/refs.ts';
import { HubError } from './hub-error.ts';
import { type Addressed, originOf } from './next-page.ts';

/** Lifetime of an upload URL. A client that needs longer requests a new one and resumes. */
const LIFE_S = 24 * 60 * 60;

/** Suffix that Git LFS appends to a repository's name. */
const GIT = '.git';

/**
 * Receives a part of an upload. If the file has only one part, also completes the upload. Throws HubError,
 * and the errors of the upload.
 */
export async function receivePart(
  services: Services,
  { params: { uploadId, number }, query }: InputOf<typeof contract.putLfsPart>,
  request: FastifyRequest,
): Promise<Answer<ResponseOf<typeof contract.putLfsPart>>> {
  await checkSignature(services, { uploadId, ...query });
  const who = { uploadId, userId: query.by };
  limitTime(request, {});
  try {
    const { sha256 } = await receive(services, { ...who, number, sha256: null, bytes: request.raw });
    if (countParts(await requireUpload(services.db, who)) === 1) await completeUpload(services, who);
    // The client sends this ETag back when it completes the file.
    return new Answer({ sha256 }, { headers: { etag: `"${sha256}"` } });
  } catch (error) {
    // Discard the rest of the body, which would block the connection.
    request.raw.resume();
    throw error;
  }
}

type Batch = InputOf<typeof contract.batchModelFiles>;

type Started = ResponseOf<typeof contract.batchModelFiles>;

/**
 * Starts or resumes an upload for each file that the caller does not store yet, and returns its URLs. A file
 * with a single part is sent as a whole. Throws HubError. Throws AppError 'payload_too_large' above the file
 * limit or the user's quota.
 */
export async function startUploads(
  ctx: Context,
  { type, params, body }: { type: RepositoryTypes } & Pick<Batch, 'params' | 'body'>,
  request: Addressed,
): Promise<Started> {
  if (!params.name.endsWith(GIT)) throw new HubError('not_found', 'RepoNotFound', 'Repository not found');
  const name = params.name.slice(0, -GIT.length);
  await openWritableBranch(ctx, { type, namespace: params.namespace, name, revision: 'main' });
  const uploads = new Map<string, Upload>();
  for (const { oid, size } of body.objects)
    if (!uploads.has(oid)) uploads.set(oid, await startUpload(ctx, { sha256: oid, sizeBytes: size }));
  return {
    transfer: body.transfers?.includes('multipart') ? 'multipart' : 'basic',
    objects: body.objects.map(({ oid, size }) => {
      const upload = uploads.get(oid);
      const actions = upload && !upload.blob ? describeUpload(ctx, upload, originOf(request)) : undefined;
      return { oid, size, authenticated: true as const, ...(actions && { actions }) };
    }),
  };
}

async function startUpload(ctx: Context, file: { sha256: string; sizeBytes: number }): Promise<Upload> {
  assertFileSize(ctx.config, { sizeBytes: file.sizeBytes, param: 'size' });
  const { userId } = ctx.caller;
  const present = await selectAnnounced(ctx.db, { userId, ...file });
  if (present && (!present.blob || (await findWhole(ctx, present)))) return present;
  return openUpload(ctx, { userId, ...file }, async (tx, open) => {
    const upload = await open();
    await assertUploadFitsQuota(tx, ctx.config, { upload, param: 'size' });
    return upload;
  });
}

type Actions = NonNullable<Started['objects'][number]['actions']>;

function describeUpload(ctx: Context, upload: Upload, origin: string): Actions {
  const { id: uploadId, partBytes } = upload;
  const by = ctx.caller.userId;
  const expires = Math.floor(ctx.clock.now().getTime() / 1000) + LIFE_S;
  const signed = { by, key_id: ctx.caller.key?.id, expires };
  const query = { ...signed, signature: signUpload(ctx.config, { uploadId, ...signed }) };
  const partUrl = (number: number) =>
    origin + endpointUrl(contract.putLfsPart.path, { uploadId, number }, query);
  const verify = { href: origin + contract.verifyLfsObject.path };
  const count = countParts(upload);
  if (count === 1) return { upload: { href: partUrl(1) }, verify };
  const parts = Array.from({ length: count }, (_, index) => [String(index + 1), partUrl(index + 1)]);
  return {
    upload: {
      href: origin + endpointUrl(contract.completeLfsUpload.path, { uploadId }, query),
      header: { chunk_size: String(partBytes), ...Object.fromEntries(parts) },
    },
    verify,
  };
}

/**
 * Returns bytes that the caller has uploaded, or that one of the caller's files contains. Throws
 * AppError('invalid_request') for any other hash, because knowing a hash must not give access to another
 * user's file.
 */
export async function findUploaded({ blobs, caller, db }: Context, sha256: string): Promise<Blob> {
  const found = (await ownsBlob(db, caller.userId, sha256)) ? await blobs.stat(sha256) : null;
  if (found) return { sha256, sizeBytes: found.sizeBytes };
  throw invalidParam('oid', `You have not uploaded a file with the SHA-256 ${sha256}`);
}

/** Throws HubError 'forbidden' if the signature is invalid, the URL has expired, or its key was revoked. */
export async function checkSignature(
  { clock, config, db }: Pick<Services, 'clock' | 'config' | 'db'>,
  { signature, ...signed }: Signed & { signature: string },
): Promise<void> {
  if (!isSameSecret(signUpload(config, signed), signature))
    throw new HubError('forbidden', null, 'This address was not issued by this server, or has been changed');
  const now = clock.now();
  const { key_id: keyId, expires } = signed;
  if (expires * 1000 > now.getTime() && (keyId === undefined || (await isKeyLive(db, keyId, now)))) return;
  throw new HubError('forbidden', null, 'This address has expired. Start the upload again to resume it');
}

/** Checks that the caller has completely uploaded these bytes. Throws AppError('invalid_request') if not. */
export async function verifyObject(
  ctx: Context,
  { body: { oid, size } }: InputOf<typeof verifyLfsObjectEndpoint>,
): Promise<{ success: true }> {
  const { sizeBytes } = await findUploaded(ctx, oid);
  if (sizeBytes === size) return { success: true };
  throw invalidParam('size', `The file has ${sizeBytes} bytes, not ${size}`);
}

/** Combines the parts of an upload into a file; repeatable. Throws the errors of `completeUpload`. */
export async function completeParts(
  services: Services,
  { params: { uploadId }, query }: InputOf<typeof contract.completeLfsUpload>,
): Promise<{ success: true }> {
  await checkSignature(services, { uploadId, ...query });
  await completeUpload(services, { uploadId, userId: query.by });
  return { success: true };
}

type Signed = {
  uploadId: string;
  by: string;
  /** The API key that started the upload; absent for a browser session. */
  key_id?: string | undefined;
  /** Seconds since 1970. */
  expires: number;
};

/** Returns the signature for upload URLs. Git LFS sends no API key to them. */
function signUpload(config: Services['config'], { uploadId, by, key_id = '', expires }: Signed): string {
  return signatureOf(serverSecret(config), 'hub uploads', [uploadId, by, key_id, expires]);
}
