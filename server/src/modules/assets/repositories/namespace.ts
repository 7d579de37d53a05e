import type { AssetRow } from '../queries.ts';

/** The namespace of the starter models, which nobody owns. */
const STARTERS = 'bakehouse';
/** Words of the hub's paths, of which a namespace would be taken for one; and what stands for an id. */
const RESERVED = new Set([
  STARTERS,
  ...['api', 'buckets', 'collections', 'datasets', 'datasets-server', 'docs', 'id', 'kernels', 'lfs'],
  ...['login', 'models', 'new', 'organizations', 'papers', 'settings', 'spaces', 'uploads', 'xet'],
]);
/** What the hub's clients take as a part of a repository's name. */
const PART = /^(?!.*(--|\.\.|-$|^-|^\.|\.$|\.git$|\.ipynb$))[\w.-]{1,96}$/;
/** No username has a dot, so that no other user has such a namespace. */
const ESCAPED = 'u.';

/** Whether the hub's clients take this as a namespace or as the name of a repository. */
export function isRepositoryName(text: string): boolean {
  return PART.test(text);
}

/**
 * The namespace under which the hub's clients find what a user has: the username, or where the clients would not take it,
 * `u.` and the username with `_._` for each dash. Null is the owner of the starter models. Pure.
 */
export function namespaceOf(username: string | null): string {
  if (username === null) return STARTERS;
  const isFree = isRepositoryName(username) && !RESERVED.has(username);
  return isFree ? username : ESCAPED + username.replaceAll('-', '_._');
}

/** Whose namespace this is: a username, null for the starter models; undefined where it can be nobody's. Pure. */
export function usernameOf(namespace: string): string | null | undefined {
  const lower = namespace.toLowerCase();
  if (lower === STARTERS) return null;
  const username = lower.startsWith(ESCAPED) ? lower.slice(ESCAPED.length).replaceAll('_._', '-') : lower;
  return namespaceOf(username) === lower ? username : undefined;
}

/** A repository is an asset; this is how the hub's clients call it. */
export function repositoryId(asset: Pick<AssetRow, 'owner_username' | 'name'>): string {
  return `${namespaceOf(asset.owner_username)}/${asset.name}`;
}
