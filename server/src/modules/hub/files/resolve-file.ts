import type { InputOf } from '@bakehouse/contract/endpoint';
import type { resolveModelFile as endpoint } from '@bakehouse/contract/hub/files';
import type { RepositoryTypes } from '@bakehouse/contract/hub/shared';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { breakOffWithKey } from '../../../platform/http/callers/break-off-with-key.ts';
import { sendBlob } from '../../../platform/storage/send-blob.ts';
import { countDownload } from '../../assets/downloads/count-download.ts';
import { contentDisposition } from '../../assets/files/content-disposition.ts';
import { contentTypeOf } from '../../assets/files/content-type.ts';
import { findFilesOf, spellingsOf } from '../../assets/revisions/read-tree.ts';
import { HubError } from '../hub-error.ts';
import { openRevision } from '../repositories/open-repository.ts';

/**
 * Sends a file of a revision, or the requested range, with headers that identify the commit and the bytes.
 * Throws HubError.
 */
export async function resolveFile(
  ctx: Context,
  { type, params }: { type: RepositoryTypes; params: InputOf<typeof endpoint>['params'] },
  http: Http,
): Promise<void> {
  const { '*': path, revision } = params;
  const { asset, commit } = await openRevision(ctx, { type, ...params });
  // Clients cache that a commit lacks a file, so send the commit's id in either case.
  http.reply.header('x-repo-commit', commit.commitId);
  const [file] = await findFilesOf(ctx.db, {
    assetId: asset.id,
    number: commit.number,
    paths: spellingsOf(path),
  });
  if (!file) throw new HubError('not_found', 'EntryNotFound', `There is no file ${path} in ${revision}`);
  const { sha256 } = file;
  const sizeBytes = Number(file.size_bytes);
  breakOffWithKey(ctx, http);
  if (http.request.method === 'GET') countDownload(ctx, asset.id);
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
