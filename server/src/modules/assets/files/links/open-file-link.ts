import type { InputOf } from '@bakehouse/contract/endpoint';
import type { openFileLink as endpoint } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import type { Http } from '../../../../platform/http/bind.ts';
import { sendBlob } from '../../../../platform/storage/send-blob.ts';
import { contentDisposition } from '../content-disposition.ts';
import { contentTypeOf } from '../content-type.ts';
import { checkLink } from './check-link.ts';

/**
 * Answers whoever has a link with the bytes that it names. They are what somebody has uploaded, and come
 * from the address of the web app: nothing in them runs there. Throws what `checkLink` throws.
 */
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
      // Who has the link has the file: it may stand on the page of another site.
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': `private, max-age=${leftSeconds}, immutable`,
    },
  });
}
