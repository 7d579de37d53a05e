import type { InputOf } from '@bakehouse/contract/endpoint';
import type { downloadImage as endpoint } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import { AppError } from '../../../../platform/errors.ts';
import type { Http } from '../../../../platform/http/bind.ts';
import { sendBlob } from '../../../../platform/storage/send-blob.ts';
import { contentDisposition } from '../content-disposition.ts';
import { contentTypeOf } from '../content-type.ts';
import { decodePath } from './decode-path.ts';
import { fetchImage, isImageType, onlyS3Urls } from './fetch-image.ts';
import { readOwnLink } from './read-own-link.ts';

/**
 * Sends a picture as a download, from one of this server's own links or from a configured S3 address.
 * Requests no other address. Throws AppError with a sentence for the user.
 */
export async function downloadImage(
  services: Services,
  { query }: Pick<InputOf<typeof endpoint>, 'query'>,
  http: Http,
): Promise<void> {
  const { publicUrl } = services.config;
  const url = URL.canParse(query.url, publicUrl) ? new URL(query.url, publicUrl) : null;
  if (!url) throw onlyS3Urls();
  const name = query.filename ?? nameIn(url);
  if (url.origin === new URL(publicUrl).origin) return sendOwn(services, { url, name }, http);
  const { body, contentType } = await fetchImage(url, services.config.s3Urls);
  await http.reply.headers(headersOf(contentType, name)).send(body);
}

async function sendOwn(
  services: Services,
  { url, name }: { url: URL; name: string },
  http: Http,
): Promise<void> {
  const file = await readOwnLink(services, url);
  if (!file) throw onlyS3Urls();
  const { contentType } = contentTypeOf(file.path);
  if (!isImageType(contentType))
    throw new AppError('invalid_request', { publicMessage: 'Invalid image source', param: 'url' });
  const headers = headersOf(contentType, name);
  await sendBlob(services, http, { ...file, headers });
}

function headersOf(contentType: string, name: string): Record<string, string> {
  return {
    'content-type': contentType,
    'content-disposition': contentDisposition('attachment', name),
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
    'cache-control': 'private, no-store',
  };
}

function nameIn(url: URL): string {
  return decodePath(url.pathname).split('/').at(-1) || 'image';
}
