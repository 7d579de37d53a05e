import type { InputOf } from '@bakehouse/contract/endpoint';
import type { openFileLink as endpoint } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import type { Http } from '../../../../platform/http/bind.ts';
import { sendBlob } from '../../../../platform/storage/send-blob.ts';
import { contentDisposition, contentTypeOf } from '../content-type.ts';
import { checkLink } from './check-link.ts';

/** Sends the file of a link, which must not run code on the web app's origin. Throws like `checkLink`. */
export async function openFileLink(
  services: Services,
  { params, query }: InputOf<typeof endpoint>,
  http: Http,
): Promise<void> {
  const { sha256, '*': name } = params;
  const { sizeBytes, leftSeconds } = await checkLink(services, { params, query });
  await sendBlob(services, http, {
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
