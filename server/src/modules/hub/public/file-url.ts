import type { Repo } from './hub-client.ts';

/** Returns the URL of a file of a commit; the hub may redirect. */
export function fileUrl(hubUrl: string, { type, id }: Repo, revision: string, path: string): URL {
  const prefix = type === 'dataset' ? 'datasets/' : '';
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return new URL(`${hubUrl}/${prefix}${id}/resolve/${revision}/${encoded}`);
}
