import type { InputOf } from '@bakehouse/contract/endpoint';
import type { openZipLink as endpoint } from '@bakehouse/contract/gallery';
import type { Services } from '../../../platform/context.ts';
import { invalidLink, linkExpired, notFoundError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { isSameSecret } from '../../../platform/signature.ts';
import { sendZip } from '../../../platform/storage/send-blob.ts';
import { accountExists } from '../../accounts/steps.ts';
import { contentDisposition } from '../../assets/files/content-type.ts';
import { listPictures } from './add-training-pictures.ts';
import { signZip, unpackIds } from './zip-links.ts';

/**
 * Sends the zip that a link names. Throws AppError 'forbidden' for an invalid signature, 'gone' for an
 * expired link, and 'not_found' if a picture or its owner was deleted.
 */
export async function openZipLink(
  services: Services,
  { query }: Pick<InputOf<typeof endpoint>, 'query'>,
  http: Http,
): Promise<void> {
  const { userId, ids, expires, signature } = query;
  if (!isSameSecret(signZip(services.config, { userId, ids, expires }), signature)) {
    throw invalidLink();
  }
  if (expires * 1000 <= services.clock.now().getTime()) {
    throw linkExpired();
  }
  if (!(await accountExists(services.db, userId))) throw notFoundError('These pictures no longer exist');
  const pictures = await listPictures(services.db, { ids: unpackIds(ids), userId });
  await sendZip(services, http, {
    files: pictures.map(({ row, output, name }) => ({
      path: name,
      sha256: output.sha256,
      sizeBytes: Number(output.size_bytes),
      modifiedAt: row.ended_at ?? row.created_at,
    })),
    headers: {
      'content-disposition': contentDisposition('attachment', 'pictures.zip'),
      'cache-control': 'private, no-store',
    },
  });
}
