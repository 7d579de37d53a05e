import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import * as contract from '@bakehouse/contract/hub/lfs';
import type { RepositoryTypes } from '@bakehouse/contract/hub/shared';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { findWhole } from '../../../platform/storage/uploads/find-whole.ts';
import { openUpload } from '../../../platform/storage/uploads/open-upload.ts';
import { selectAnnounced } from '../../../platform/storage/uploads/queries.ts';
import { countParts, type Upload } from '../../../platform/storage/uploads/upload.ts';
import { takeRoomForUpload } from '../../assets/files/storage-quota.ts';
import { refuseLarge } from '../../assets/files/upload/parts/get-upload-limits.ts';
import { openOwnBranch } from '../commits/open-own-branch.ts';
import { HubError } from '../hub-error.ts';
import { originOf } from '../next-page.ts';
import { signUpload } from './sign-upload.ts';

type Batch = InputOf<typeof contract.batchModelFiles>;
type Answer = ResponseOf<typeof contract.batchModelFiles>;

/** Validity of an upload URL; a client that needs longer requests a new one and resumes. */
const LIFE_S = 24 * 60 * 60;
/** Suffix that Git LFS appends to the repository's name. */
const GIT = '.git';

/**
 * Starts or resumes an upload for each file that the caller does not store yet, and returns its URLs; a file
 * of one part is sent whole. Throws HubError, and AppError 'payload_too_large' beyond the file limit or the
 * user's quota.
 */
export async function startUploads(
  ctx: Context,
  { type, params, body }: { type: RepositoryTypes } & Pick<Batch, 'params' | 'body'>,
  http: Http,
): Promise<Answer> {
  if (!params.name.endsWith(GIT)) throw new HubError('not_found', 'RepoNotFound', 'Repository not found');
  const name = params.name.slice(0, -GIT.length);
  await openOwnBranch(ctx, { type, namespace: params.namespace, name, revision: 'main' });
  const uploads = new Map<string, Upload>();
  for (const { oid, size } of body.objects)
    if (!uploads.has(oid)) uploads.set(oid, await startUpload(ctx, { sha256: oid, sizeBytes: size }));
  return {
    transfer: body.transfers?.includes('multipart') ? 'multipart' : 'basic',
    objects: body.objects.map(({ oid, size }) => {
      const upload = uploads.get(oid);
      const actions = upload && !upload.blob ? describeUpload(ctx, upload, http) : undefined;
      return { oid, size, authenticated: true as const, ...(actions && { actions }) };
    }),
  };
}

async function startUpload(ctx: Context, file: { sha256: string; sizeBytes: number }): Promise<Upload> {
  refuseLarge(ctx.config, { sizeBytes: file.sizeBytes, param: 'size' });
  const { userId } = ctx.caller;
  const present = await selectAnnounced(ctx.db, { userId, ...file });
  if (present && (!present.blob || (await findWhole(ctx, present)))) return present;
  return openUpload(ctx, { userId, ...file }, async (tx, open) => {
    const upload = await open();
    await takeRoomForUpload(tx, ctx.config, { upload, param: 'size' });
    return upload;
  });
}

type Actions = NonNullable<Answer['objects'][number]['actions']>;

function describeUpload(ctx: Context, upload: Upload, http: Http): Actions {
  const origin = originOf(http);
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
