import type { downloadFile as endpoint } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Answer } from '../../../platform/http/answer.ts';
import { answerBlob, type FileRequest } from '../../../platform/storage/answer-blob.ts';
import { countDownload } from '../downloads/count-download.ts';
import { contentDisposition, contentTypeOf } from './content-type.ts';
import { findFile } from './files.ts';

/** Returns one file, or the requested range. */
export async function downloadFile(
  ctx: Context,
  { params, query }: Pick<InputOf<typeof endpoint>, 'params' | 'query'>,
  request: FileRequest,
): Promise<Answer> {
  const path = params['*'];
  const file = await findFile(ctx, { assetId: params.id, revisionId: query.revision_id, path });
  if (request.method === 'GET') countDownload(ctx, params.id);
  return answerBlob(ctx, request, {
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
