import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { openFileLink } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import { serverSecret } from '../../../accounts/sign-in/server-secret.ts';
import { contentDisposition } from '../content-disposition.ts';
import { contentTypeOf } from '../content-type.ts';
import { type LinkedFile, signLink } from './sign-link.ts';

/** Long enough to resume a large download, and to see a film to its end. */
const LIFE_S = 60 * 60;
/** All links that are made within so long are the same, so that a browser shows its copy of a picture again: for half an hour. */
const STEP_S = 30 * 60;

/** A link to these bytes as a file of this name, for whoever it is given to. It opens for an hour at least, while its holder may read them; a link to the bucket opens until then in any case. */
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
