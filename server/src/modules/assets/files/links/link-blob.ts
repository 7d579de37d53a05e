import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { openFileLink } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import { serverSecret } from '../../../accounts/sign-in/server-secret.ts';
import { contentDisposition } from '../content-disposition.ts';
import { contentTypeOf } from '../content-type.ts';
import { type LinkedFile, signLink } from './sign-link.ts';

/** Long enough to resume a large download, and to watch a video to its end. */
const LIFE_S = 60 * 60;
/** Links created within this period are identical, so that a browser can use its cached copy. */
const STEP_S = 30 * 60;

/**
 * Returns a link to a blob under a file name, for anyone. It works for at least an hour, while its creator
 * may read the blob; a link into the bucket always works until it expires.
 */
export async function linkBlob(
  { blobs, clock, config }: Pick<Services, 'blobs' | 'clock' | 'config'>,
  { path, ...file }: { path: string } & Omit<LinkedFile, 'name' | 'expires'>,
): Promise<{ url: string; expiresAt: Date }> {
  const { sha256, ...query } = file;
  const expires = Math.ceil((clock.now().getTime() / 1000 + LIFE_S) / STEP_S) * STEP_S;
  const expiresAt = new Date(expires * 1000);
  const elsewhere = await blobs.presign(sha256, {
    contentType: contentTypeOf(path).contentType,
    contentDisposition: contentDisposition(file.disposition, path),
    expiresAt,
  });
  const name = path.split('/').at(-1) ?? path;
  const signature = signLink(serverSecret(config), { ...file, name, expires });
  const own = endpointUrl(openFileLink.path, { sha256, '*': name }, { ...query, expires, signature });
  return { url: elsewhere ?? own, expiresAt };
}
