import { sql } from 'kysely';
import type { Transaction } from '../../../platform/db/database.ts';
import type { AssetRow } from '../queries.ts';
import { isNameTaken, type RepositoryType } from './repository-queries.ts';

/** The namespace of the starter models, which have no owner. */
const STARTERS = 'bakehouse';

/** Words that the hub's paths use, so they cannot be namespaces, and the namespace for ids. */
const RESERVED = new Set([
  STARTERS,
  ...['api', 'buckets', 'collections', 'datasets', 'datasets-server', 'docs', 'id', 'kernels', 'lfs'],
  ...['login', 'models', 'new', 'organizations', 'papers', 'settings', 'spaces', 'uploads', 'xet'],
]);

/** The hub clients' pattern for each part of a repository's name. */
const PART = /^(?!.*(--|\.\.|-$|^-|^\.|\.$|\.git$|\.ipynb$))[\w.-]{1,96}$/;

/** Usernames contain no dots, so this prefix is unambiguous. */
const ESCAPED = 'u.';

/** Returns true if the hub's clients accept a namespace or repository name. */
export function isRepositoryName(text: string): boolean {
  return PART.test(text);
}

/**
 * Returns a user's namespace for the hub's clients: the username, if the clients accept it. Otherwise `u.`
 * plus the username with `_._` for each dash. A null username means the owner of the starter models.
 */
export function namespaceOf(username: string | null): string {
  if (username === null) return STARTERS;
  const isFree = isRepositoryName(username) && !RESERVED.has(username);
  return isFree ? username : ESCAPED + username.replaceAll('-', '_._');
}

/** Returns the username of a namespace; null for the starter models, undefined if no user can have it. */
export function usernameOf(namespace: string): string | null | undefined {
  const lower = namespace.toLowerCase();
  if (lower === STARTERS) return null;
  const username = lower.startsWith(ESCAPED) ? lower.slice(ESCAPED.length).replaceAll('_._', '-') : lower;
  return namespaceOf(username) === lower ? username : undefined;
}

/** Returns the id of an asset for the hub's clients, which call assets repositories. */
export function repositoryId(asset: Pick<AssetRow, 'owner_username' | 'name'>): string {
  return `${namespaceOf(asset.owner_username)}/${asset.name}`;
}

/**
 * Step: returns true if a user's asset may get this name. A lock makes name choices of one user sequential,
 * also with the database function `pick_asset_name()`.
 */
export async function reserveAssetName(
  tx: Transaction,
  wanted: { userId: string; type: RepositoryType; name: string },
): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`asset_name:${wanted.userId}`}, 0))`.execute(tx);
  return !(await isNameTaken(tx, wanted));
}
