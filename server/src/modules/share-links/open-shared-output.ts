import type { InputOf } from '@bakehouse/contract/endpoint';
import type { openSharedOutput as endpoint } from '@bakehouse/contract/share-links';
import type { Caller, Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { answerBlob, type FileRequest } from '../../platform/storage/answer-blob.ts';
import { contentDisposition, contentTypeOf } from '../assets/files/content-type.ts';
import { toThumbnail } from '../media/thumbnails/thumbnails.ts';
import { findShared } from './share-links.ts';

/** Returns a shared picture or video. Throws the errors of `findShared` and `answerBlob`. */
export async function openSharedOutput(
  ctx: Context<Caller>,
  { params: { token, outputId }, query }: InputOf<typeof endpoint>,
  request: FileRequest,
): Promise<Answer> {
  const { row, outputs } = await findShared(ctx, token);
  const output = outputs.find(({ id }) => id === outputId);
  if (!output)
    throw new AppError('not_found', { publicMessage: 'There is no such picture behind this link' });
  const thumbnail = query.thumbnail ? toThumbnail(output) : null;
  const { sha256, sizeBytes } = thumbnail ?? {
    sha256: output.sha256,
    sizeBytes: Number(output.size_bytes),
  };
  const path = `${row.generator}.${thumbnail ? 'webp' : output.media_type.split('/')[1]}`;
  // No object store links here: they would outlive the share link.
  return answerBlob(ctx, request, {
    ...{ sha256, path, sizeBytes },
    headers: {
      'content-type': contentTypeOf(path).contentType,
      'content-disposition': contentDisposition('inline', path),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      // Messengers embed it in their previews.
      'cross-origin-resource-policy': 'cross-origin',
      // The browser revalidates on each view, so a revoked link stops working, without reloading the bytes.
      'cache-control': 'private, no-cache',
      'x-robots-tag': 'noindex',
    },
  });
}
