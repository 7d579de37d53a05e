import type { InputOf } from '@bakehouse/contract/endpoint';
import type { openSharedOutput as endpoint } from '@bakehouse/contract/generation-shares';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { sendBlob } from '../../../platform/storage/send-blob.ts';
import { contentDisposition } from '../../assets/files/content-disposition.ts';
import { contentTypeOf } from '../../assets/files/content-type.ts';
import { toThumbnail } from '../../media/thumbnails/thumbnail-columns.ts';
import { findShared } from './find-shared.ts';

/**
 * Answers whoever has a link with the bytes of a picture or video behind it. The store's own links are not used: they would
 * outlive the link. Throws what `findShared` and `sendBlob` throw, and AppError 'not_found' for what is not behind the link.
 */
export async function openSharedOutput(
  services: Services,
  { params, query }: InputOf<typeof endpoint>,
  http: Http,
): Promise<void> {
  const { row, outputs } = await findShared(services, params.token);
  const output = outputs.find(({ id }) => id === params.outputId);
  if (!output)
    throw new AppError('not_found', { publicMessage: 'There is no such picture behind this link' });
  const thumbnail = query.thumbnail ? toThumbnail(output) : null;
  const { sha256, sizeBytes } = thumbnail ?? {
    sha256: output.sha256,
    sizeBytes: Number(output.size_bytes),
  };
  const type = thumbnail ? 'webp' : output.media_type.split('/')[1];
  const path = `${row.generator}.${type}`;
  await sendBlob(services, http, {
    ...{ sha256, path, sizeBytes },
    headers: {
      'content-type': contentTypeOf(path).contentType,
      'content-disposition': contentDisposition('inline', path),
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      // Messengers show it in a card of their own.
      'cross-origin-resource-policy': 'cross-origin',
      // Each look asks whether the link still holds; a browser that has the bytes is not sent them again.
      'cache-control': 'private, no-cache',
      'x-robots-tag': 'noindex',
    },
  });
}
