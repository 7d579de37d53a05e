import type { downloadFile as endpoint } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { abortWithKey } from '../../../platform/http/callers/key-ends.ts';
import { sendBlob } from '../../../platform/storage/send-blob.ts';
import { countDownload } from '../downloads/count-download.ts';
import { contentDisposition, contentTypeOf } from './content-type.ts';
import { findFile } from './files.ts';

/** Sends one file, or the requested range. */
export async function downloadFile(
  ctx: Context,
  { params, query }: Pick<InputOf<typeof endpoint>, 'params' | 'query'>,
  http: Http,
): Promise<void> {
  const path = params['*'];
  const file = await findFile(ctx, { assetId: params.id, revisionId: query.revision_id, path });
  abortWithKey(ctx, http);
  if (http.request.method === 'GET') countDownload(ctx, params.id);
  await sendBlob(ctx, http, {
    sha256: file.sha256,
    path,
    sizeBytes: Number(file.size_bytes),
    headers: {
      'cache-control': 'private, no-cache',
      'content-type': contentTypeOf(path).contentType,
      'content-disposition': contentDisposition('attachment', path),
    },
  });
}
