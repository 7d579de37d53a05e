import { SEARCH_RESULTS_MAX } from '@bakehouse/contract/search';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { effort } from '../../../testing/soak.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { listAssets, type SortKey } from './list-queries.ts';
import { findMatching, findSimilar, findWords } from './search-queries.ts';

const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;
const ASSETS = effort({ usual: 20_000, soak: 100_000 });
const USERS = 200;
/** What a search or a page may look at, of all that there is. */
const TOUCHED_MAX = 600;

beforeAll(async () => {
  await sql`
    insert into users (id, name, username, email)
    select 'u' || n, 'u', 'user-' || n, 'u' || n || '@example.com' from generate_series(0, ${USERS}) n`.execute(
    db,
  );
  // One user has every tenth, and nearly all are private; of one name there are few, half of them published.
  await sql`
    insert into assets (owner_user_id, dataset_type, title, category, details, tags, is_published, updated_at)
    select 'u' || case when n % 10 = 0 then 1 else 1 + n * 7919 % ${USERS - 1} end,
      case when n % 4 = 3 then 'MODEL' else 'RAW' end,
      case when n % 2000 < 4 then 'Pretzels' when n % 7 < 2 then 'Loaves' else 'Rolls' end || ' 2026 of rye, batch ' || n,
      '', '', array['example', 'year ' || 2000 + n % 25], n % 20 < 2, now() - n * interval '1 second'
    from generate_series(1, ${ASSETS}) n`.execute(db);
  await sql`
    insert into asset_shares (asset_id, user_id)
    select id, 'u0' from (select id from assets where not is_published limit 50) chosen`.execute(db);
  await sql`vacuum analyze assets`.execute(db);
  await sql`vacuum analyze asset_shares`.execute(db);
});

// The stranger has nothing, and some of it is shared with them.
const stranger = 'u0';
const wanted = (words: string) => ({ userId: stranger, words, limit: SEARCH_RESULTS_MAX });
const list = (search: string, more: { sort?: SortKey; ownerId?: string; tags?: string[] } = {}) =>
  listAssets(db, {
    ...{ userId: stranger, type: 'RAW', search, cursor: null, limit: 50, sort: 'updated' },
    ...{ whose: ['own', 'starter', 'published', 'shared'], ...more },
  });

/** The plan of the last query for assets that this makes, and how many rows its scans gave and threw away. */
async function touchedBy(find: () => Promise<unknown>): Promise<{ plan: string; rows: number }> {
  const plans = await plansOf(recording, find, { analyze: true });
  const plan = plans.findLast((one) => / on assets/.test(one)) ?? '';
  const scans = plan.matchAll(
    /Scan .*actual time=[\d.]+ rows=([\d.]+) loops=(\d+)|Scan .*\(actual rows=([\d.]+) loops=(\d+)\)/g,
  );
  const given = [...scans].map(([, a, b, c, d]) => Number(a ?? c) * Number(b ?? d));
  const dropped = [...plan.matchAll(/Rows Removed by (?:Filter|Index Recheck): (\d+)/g)].map(([, n]) =>
    Number(n),
  );
  return { plan, rows: [...given, ...dropped].reduce((sum, n) => sum + n, 0) };
}

const asked: [string, () => Promise<unknown>][] = [
  ['rare words', () => findMatching(db, wanted('pretzels 2026'))],
  ['words apart', () => findWords(db, wanted('rye pretzels'))],
  ['a misspelt word', () => db.transaction().execute((tx) => findSimilar(tx, wanted('baatch 19999')))],
  ['nothing', () => findMatching(db, wanted(''))],
  ['what nobody has', () => findMatching(db, wanted('croissants'))],
  ['a page by time', () => list('')],
  ['a page by name', () => list('', { sort: 'title' })],
  ['a page by size', () => list('', { sort: 'size' })],
  ['a page by creation', () => list('', { sort: 'created' })],
  ['a page of one owner', () => list('', { ownerId: 'u1' })],
  ['a page of rare words', () => list('pretzels 2026')],
  ['a page of a tag', () => list('', { tags: ['year 2000'] })],
];

test.each(asked)('a stranger who asks for %s has few rows looked at', async (_what, find) => {
  const { plan, rows } = await touchedBy(find);
  expect(plan).toContain('assets_published_by_');
  expect(plan).not.toContain('Seq Scan on assets');
  expect(rows, plan).toBeLessThan(TOUCHED_MAX);
});

test('what a search finds is published or shared, whoever owns it', async () => {
  const found = await findMatching(db, wanted('pretzels 2026'));
  expect(found.length).toBeGreaterThan(5);
  const ids = found.map(({ id }) => id);
  const open = await sql<{ id: string }>`
    select id::text from assets where id = any(${ids}::uuid[]) and (is_published or id in (select asset_id from asset_shares))`.execute(
    db,
  );
  expect(open.rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
});
