import type { InputOf } from '@bakehouse/contract/endpoint';
import {
  type search as endpoint,
  SEARCH_RESULTS_MAX,
  type SearchResult,
  type SearchResults,
} from '@bakehouse/contract/search';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { findNames } from '../../accounts/steps.ts';
import { type FoundRow, findMatching, findSimilar, findWords } from './search-queries.ts';
import { wordsOf } from './search-text.ts';

/**
 * Searches the datasets and models that the caller may read, starter models and restricted models. Without a
 * match for the whole input, it searches for each word, and then for similar names.
 */
export async function search(
  ctx: Context,
  { query }: InputOf<typeof endpoint>['query'],
): Promise<SearchResults> {
  const wanted = { userId: ctx.caller.userId, words: query, limit: SEARCH_RESULTS_MAX };
  let found = await findMatching(ctx.db, wanted);
  if (found.length === 0 && wordsOf(query).length > 1) found = await findWords(ctx.db, wanted);
  if (found.length > 0 || query === '') return { results: await toResults(ctx, found), similar: false };
  const similar = await inTransaction(ctx.db, (tx) => findSimilar(tx, wanted));
  return { results: await toResults(ctx, similar), similar: similar.length > 0 };
}

async function toResults(ctx: Context, rows: FoundRow[]): Promise<SearchResult[]> {
  const others = rows.flatMap((row) => row.owner_user_id ?? []).filter((id) => id !== ctx.caller.userId);
  const names = others.length > 0 ? await findNames(ctx.db, { userIds: others, keyIds: [] }) : new Map();
  return rows.map(({ kind, id, title, family, tags, is_starter, owner_user_id: ownerId }) => ({
    kind,
    id,
    name: title,
    family,
    tags,
    is_starter,
    owner_username: names.get(ownerId) ?? null,
  }));
}
