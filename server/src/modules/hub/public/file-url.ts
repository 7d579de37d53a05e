import type { Repo } from './hub-client.ts';

/** Where the bytes of a file of a commit begin to be looked for; the hub may lead elsewhere. Pure. */
export function fileUrl(hubUrl: string, { type, id }: Repo, revision: string, path: string): URL {
  const prefix = type === 'dataset' ? 'datasets/' : '';
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return new URL(`${hubUrl}/${prefix}${id}/resolve/${revision}/${encoded}`);
}
