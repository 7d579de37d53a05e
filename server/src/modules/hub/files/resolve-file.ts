import type { InputOf } from '@bakehouse/contract/endpoint';
import type { resolveModelFile as endpoint } from '@bakehouse/contract/hub/files';
import type { RepositoryTypes } from '@bakehouse/contract/hub/shared';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { breakOffWithKey } from '../../../platform/http/callers/break-off-with-key.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { sendBlob } from '../../../platform/storage/send-blob.ts';
import { countDownload } from '../../assets/downloads/count-download.ts';
import { contentDisposition } from '../../assets/files/content-disposition.ts';
import { contentTypeOf } from '../../assets/files/content-type.ts';
import { findFilesOf, spellingsOf } from '../../assets/revisions/read-tree.ts';
import { HubError } from '../hub-error.ts';
import { awaitMirror } from '../mirror/await-mirror.ts';
import { findCopiedFile } from '../mirror/read-while-mirrored.ts';
import { openRevision, type RepositoryParams } from '../repositories/open-repository.ts';

/** Answers with the bytes of a file of a revision, or the range asked for, and says in headers which commit and bytes these are. Throws HubError. */
export async function resolveFile(
  ctx: Context,
  { type, params }: { type: RepositoryTypes; params: InputOf<typeof endpoint>['params'] },
  http: Http,
): Promise<void> {
  const { '*': path, revision } = params;
  const { assetId, sha256, sizeBytes } = await awaitMirror<Found>(
    http,
    () => findFile(ctx, { type, ...params }, http),
    async (clone) => {
      http.reply.header('x-repo-commit', clone.commit_id);
      const copied = await findCopiedFile(ctx.db, { clone, revision, path });
      return copied && { assetId: null, ...copied };
    },
  );
  breakOffWithKey(ctx, http);
  if (http.request.method === 'GET' && assetId !== null) countDownload(ctx, assetId);
  await sendBlob(ctx, http, {
    sha256,
    path,
    sizeBytes,
    headers: {
      'x-linked-size': String(sizeBytes),
      'x-linked-etag': `"${sha256}"`,
      'cache-control': 'private, no-cache',
      'content-type': contentTypeOf(path).contentType,
      'content-disposition': contentDisposition('attachment', path),
    },
  });
}

type Found = Blob & { assetId: string | null };

async function findFile(
  ctx: Context,
  { '*': path, ...repository }: RepositoryParams & { revision: string; '*': string },
  http: Http,
): Promise<Found> {
  const { asset, commit } = await openRevision(ctx, repository);
  // Clients remember that a commit has no such file: they are told which commit in either case.
  http.reply.header('x-repo-commit', commit.commitId);
  const paths = spellingsOf(path);
  const [file] = await findFilesOf(ctx.db, { assetId: asset.id, number: commit.number, paths });
  if (!file)
    throw new HubError('not_found', 'EntryNotFound', `There is no file ${path} in ${repository.revision}`);
  return { assetId: asset.id, sha256: file.sha256, sizeBytes: Number(file.size_bytes) };
}
