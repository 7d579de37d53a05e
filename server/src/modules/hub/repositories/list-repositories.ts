import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listRepositories as endpoint } from '@bakehouse/contract/hub/repositories';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { findUserByName } from '../../accounts/steps.ts';
import { type Way, ways } from '../../assets/access/readable.ts';
import { usernameOf } from '../../assets/repositories/namespace.ts';
import { findCommitIds } from '../../assets/revisions/list-commits.ts';
import type { ListFilter, SortKey } from '../../assets/search/list-queries.ts';
import { readPage } from '../../assets/search/read-page.ts';
import { linkNextPage } from '../next-page.ts';
import { describeRepository } from './describe-repository.ts';

const PAGE_MAX = 100;
/** Ways in which another user's repositories may be readable. */
const OTHERS: readonly Way[] = ['published', 'shared', 'granted'];

/** Returns a page of the models or datasets that the caller may read. */
export async function listRepositories(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
  http: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const readers = await readersOf(ctx, query.author);
  const { rows, nextCursor } = await readPage(ctx.db, {
    userId,
    type: params.type === 'models' ? 'MODEL' : 'RAW',
    ...readers,
    search: query.search,
    tags: query.filter,
    task: query.pipeline_tag || undefined,
    sort: sortOf(query.sort),
    cursor: query.cursor,
    limit: Math.min(query.limit, PAGE_MAX),
  });
  if (nextCursor) linkNextPage(http, 'cursor', nextCursor);
  const shas = await findCommitIds(
    ctx.db,
    rows.flatMap(({ revision_id }) => revision_id ?? []),
  );
  return rows.map((row) => describeRepository(row, { userId, sha: shas.get(row.revision_id ?? '') }));
}

/** Maps the client's sort key; unknown keys sort by the last change. */
function sortOf(sort: string | undefined): SortKey {
  if (sort === 'createdAt' || sort === 'created_at') return 'created';
  return sort === 'downloads' ? 'downloads' : 'updated';
}

/** Returns whose repositories are requested, and in which ways the caller may read them. */
async function readersOf(
  { db, caller }: Context,
  author: string | undefined,
): Promise<Pick<ListFilter, 'whose' | 'ownerId'>> {
  if (author === undefined || author === '') return { whose: ways };
  const username = usernameOf(author);
  if (username === null) return { whose: ['starter'] };
  const owner = username === undefined ? undefined : await findUserByName(db, username);
  if (!owner) return { whose: [] };
  return { whose: owner.id === caller.userId ? ['own'] : OTHERS, ownerId: owner.id };
}
