import { openFileLink } from '@bakehouse/contract/file-links';
import type { Services } from '../../../../platform/context.ts';
import { checkLink } from './check-link.ts';
import { decodePath } from './decode-path.ts';

const OWN_PATH = /^\/api\/v1\/files\/([^/]+)\/(.+)$/;

/** Returns the file behind a link of this server; null for other URLs. Throws the errors of `checkLink`. */
export async function readOwnLink(
  services: Services,
  url: URL,
): Promise<{ sha256: string; path: string; sizeBytes: number } | null> {
  const [, sha256, path] = OWN_PATH.exec(url.pathname) ?? [];
  const params = openFileLink.params?.safeParse({ sha256, '*': path && decodePath(path) }).data;
  const query = openFileLink.query?.safeParse(Object.fromEntries(url.searchParams)).data;
  if (!params || !query) return null;
  const { sizeBytes } = await checkLink(services, { params, query });
  return { sha256: params.sha256, path: params['*'], sizeBytes };
}
