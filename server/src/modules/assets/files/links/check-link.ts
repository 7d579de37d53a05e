import type { InputOf } from '@bakehouse/contract/endpoint';
import type { openFileLink as openFileLinkEndpoint } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import type { Database } from '../../../../platform/db/database.ts';
import { AppError, invalidLink, linkExpired, notFoundError } from '../../../../platform/errors.ts';
import type { Answer } from '../../../../platform/http/answer.ts';
import { isSameSecret, signatureOf } from '../../../../platform/signature.ts';
import { answerBlob, type FileRequest } from '../../../../platform/storage/answer-blob.ts';
import { ownsBlob } from '../../../../platform/storage/owner-queries.ts';
import { serverSecret } from '../../../accounts/sign-in/server-secret.ts';
import { accountExists } from '../../../accounts/steps.ts';
import { findReadableAsset } from '../../access/find-readable-asset.ts';
import { contentDisposition, contentTypeOf } from '../content-type.ts';

/** Returns the file of a link, which must not run code on the web app's origin. Throws like `checkLink`. */
export async function openFileLink(
  services: Services,
  { params, query }: InputOf<typeof openFileLinkEndpoint>,
  request: FileRequest,
): Promise<Answer> {
  const { sha256, '*': name } = params;
  const { sizeBytes, leftSeconds } = await checkLink(services, { params, query });
  return answerBlob(services, request, {
    sha256,
    path: name,
    sizeBytes,
    headers: {
      'content-type': contentTypeOf(name).contentType,
      'content-disposition': contentDisposition(query.disposition, name),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      // A link grants access to its file, so pages of other sites may embed it.
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': `private, max-age=${leftSeconds}, immutable`,
    },
  });
}

/**
 * Returns the size and the remaining lifetime of a link's file. Throws AppError 'forbidden' for a link that
 * this server did not sign, 'gone' for an expired link, and 'not_found' if the file was deleted or replaced,
 * or if the link's creator may no longer read it.
 */
export async function checkLink(
  services: Services,
  { params, query }: Pick<InputOf<typeof openFileLinkEndpoint>, 'params' | 'query'>,
): Promise<{ sizeBytes: number; leftSeconds: number }> {
  const { sha256, '*': name } = params;
  const { signature, ...said } = query;
  const { expires } = said;
  if (!isSignatureOf(serverSecret(services.config), { sha256, name, ...said }, signature)) {
    throw invalidLink();
  }
  const leftSeconds = Math.floor(expires - services.clock.now().getTime() / 1000);
  if (leftSeconds <= 0) {
    throw linkExpired();
  }
  const isOpen = await canHolderRead(services.db, { sha256, ...said });
  const found = isOpen && (await services.blobs.stat(sha256));
  if (!found) throw notFoundError(`${name} was deleted or replaced`);
  return { sizeBytes: found.sizeBytes, leftSeconds };
}

/** Returns true if the creator of a link still exists and may still read the file. */
async function canHolderRead(
  db: Database,
  { user: userId, asset, revision, sha256 }: LinkHolder & { sha256: string },
): Promise<boolean> {
  if (!(await accountExists(db, userId))) return false;
  if (asset === undefined) return ownsBlob(db, userId, sha256);
  return (
    (await mayReadAsset(db, { assetId: asset, userId })) &&
    (await hasBlob(db, { assetId: asset, sha256, isNewest: revision === undefined }))
  );
}

async function mayReadAsset(db: Database, wanted: { assetId: string; userId: string }): Promise<boolean> {
  try {
    await findReadableAsset(db, wanted);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return false;
    throw error;
  }
}

/**
 * Returns true if a file of the asset has these bytes: in its newest revision if `isNewest`, otherwise in any
 * revision.
 */
async function hasBlob(
  db: Database,
  { assetId, sha256, isNewest }: { assetId: string; sha256: string; isNewest: boolean },
): Promise<boolean> {
  let query = db
    .selectFrom('asset_files')
    .select('sha256')
    .where('sha256', '=', sha256)
    .where('asset_id', '=', assetId);
  if (isNewest) query = query.where('last_number', 'is', null);
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** The access that a link grants. A link works only while its creator may read the file. */
type LinkHolder = {
  /** The creator of the link. */
  user: string;
  /** The asset that contains the file; absent for generated and uploaded pictures. */
  asset?: string | undefined;
  /** The revision, unless it is the newest. */
  revision?: string | undefined;
};

export type LinkedFile = LinkHolder & {
  sha256: string;
  name: string;
  disposition: 'attachment' | 'inline';
  /** Seconds since 1970. */
  expires: number;
};

/** Signs all parts of a link, so that any change invalidates it. */
export function signLink(secret: string, file: LinkedFile): string {
  const { sha256, name, disposition, expires, user, asset = '', revision = '' } = file;
  return signatureOf(secret, 'file links', [sha256, name, disposition, expires, user, asset, revision]);
}

/** Returns true if this server signed exactly these values. */
function isSignatureOf(secret: string, file: LinkedFile, signature: string): boolean {
  return isSameSecret(signLink(secret, file), signature);
}
