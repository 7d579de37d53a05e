import { SEARCH_RESULTS_MAX } from '@bakehouse/contract/search';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { type Way, ways } from '../access/readable.ts';
import { listAssets, type SortKey } from './list-queries.ts';
import { findMatching, findSimilar, findWords } from './search-queries.ts';

/** From this size on, query plans are the same. */
const ASSETS = 100_000;
const { url } = await testDatabase();
const { db, asked } = recordingDatabase(url);
const [flo, bob] = ['flo', 'bob'];

beforeAll(async () => {
  for (const id of [flo, bob])
    await db
      .insertInto('users')
      .values({ id, name: id, username: id, email: `${id}@example.com` })
      .execute();
  // Pretzels are rare, and their names sort between loaves and rolls. The planner's sample of names misses
  // them.
  await sql`
    insert into assets (owner_user_id, dataset_type, is_published, title, category, details, tags, card_tags)
    select (array[${flo}, ${bob}])[1 + n % 2], 'RAW', n % 2 = 1 and n % 1000 < 100,
      case when n % 1000 = 900 then 'Pretzels' when n % 7 < 2 then 'Loaves' else 'Rolls' end || ' 2026 of rye, batch ' || n, '', '', array['example'],
      case when n % 1000 = 900 then array['license:mit'] else array['license:other'] end
    from generate_series(1, ${ASSETS}) n`.execute(db);
  // Share a few assets with Flo, and many with Bob.
  await sql`
    insert into asset_shares (asset_id, user_id)
    select id, case owner_user_id when ${bob} then ${flo} else ${bob} end from assets
    where owner_user_id = ${flo} or title ~ 'batch 3..$'`.execute(db);
  await sql`vacuum analyze assets, asset_shares`.execute(db);
});

const wanted = (words: string) => ({ userId: flo, words, limit: SEARCH_RESULTS_MAX });
const list = (
  search: string,
  {
    type = 'RAW',
    sort = 'updated',
    limit = 50,
    tags = [],
  }: { type?: 'RAW' | null; sort?: SortKey; limit?: number; tags?: string[] } = {},
) => listAssets(db, { userId: flo, type, whose: ['own'], search, sort, cursor: null, limit, tags });

/** Returns PostgreSQL's plan of the last asset query. */
async function planOf(find: () => Promise<unknown>): Promise<string> {
  asked.length = 0;
  await find();
  const last = asked.findLast(({ text }) => text.includes('"assets"'));
  const { rows } = await db.executeQuery<Record<'QUERY PLAN', string>>({
    ...sql`select 1`.compile(db),
    sql: `explain ${last?.text}`,
    parameters: last?.values ?? [],
  });
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test('finds matches through the index, however ownership is distributed', async () => {
  expect(await findMatching(db, wanted('batch 1990'))).toHaveLength(6);
  // The search includes ids, and some may contain these digits.
  const apart = await findWords(db, wanted('19900 pretzels batch'));
  expect(apart.map(({ title }) => title)).toContain('Pretzels 2026 of rye, batch 19900');
  expect(await list('batch 1990')).toHaveLength(6);
  for (const find of [
    () => findMatching(db, wanted('batch 1990')),
    () => findWords(db, wanted('19900 pretzels batch')),
    () => list('batch 1990'),
    () => db.transaction().execute((tx) => findSimilar(tx, wanted('baatch 19999'))),
  ]) {
    const plan = await planOf(find);
    expect(plan).toContain('Bitmap Index Scan on assets_by_words');
    expect(plan).not.toContain('Seq Scan on assets');
  }
});

test('uses the index only for the rarest part of the input, a word or a number', async () => {
  for (const [words, part] of [
    ['of rye, batch 1990', ' 1990'],
    ['pretzels 2026 of rye', 'tzels'],
  ] as const) {
    for (const find of [() => findMatching(db, wanted(words)), () => list(words)]) {
      const [condition = ''] = /Index Cond: .*search_text ~~.*/.exec(await planOf(find)) ?? [];
      expect(condition).toContain(`'%${part}%'`);
      expect(condition.split('~~')).toHaveLength(2);
    }
  }
  const apart = await planOf(() => findWords(db, wanted('batch rye pretzels')));
  expect(apart).toMatch(/Index Cond: .*search_text ~~ '%(pretz|tzels)%'/);
});

test('reads the newest matches in order if there are many', async () => {
  for (const words of ['batch 19', 's 2026 of rye'])
    expect(await planOf(() => list(words))).toContain('Index Scan Backward using assets_by_update');
});

test('finds a rare tag through its index, and a common one in the order of the list', async () => {
  const rare = () => list('', { tags: ['example', 'license:mit'] });
  expect(await rare()).toHaveLength(50);
  expect(await planOf(rare)).toContain('assets_by_tag');
  const common = await planOf(() => list('', { tags: ['license:other'] }));
  expect(common).toContain('Index Scan Backward using assets_by_update');
});

test('finds only assets that contain the whole input, whichever part the index looks up', async () => {
  for (const words of [
    'Batch 1990',
    'y 2026 OF rye, batch 1',
    'pretzels 2026',
    'rye, loaves',
    's 2026 of rye',
    '0 of',
  ]) {
    const { rows } = await sql<{ id: string }>`
      select id from assets where owner_user_id = ${flo} and strpos(search_text, lower(${words})) > 0`.execute(
      db,
    );
    const found = await list(words, { limit: ASSETS });
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
  }
});

test('finds assets by id through the index, and only if the input can be part of an id', async () => {
  const { id } = await db
    .selectFrom('assets')
    .select('id')
    .where('owner_user_id', '=', flo)
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow();
  const pieces = [id, id.slice(3, 16).toUpperCase(), id.slice(0, 5)];
  for (const words of [...pieces, `rye ${id.slice(24)}`]) {
    expect((await findWords(db, wanted(words))).map((found) => found.id)).toContain(id);
    const plan = await planOf(() => findWords(db, wanted(words)));
    expect(plan).toMatch(/Bitmap Index Scan on assets_by_words[^>]+\(id\)::text ~~/);
    expect(plan).not.toContain('Seq Scan on assets');
  }
  for (const words of ['batch 1990', 'rye, batch 90'])
    expect(await planOf(() => list(words))).not.toContain('(id)::text');
});

test('finds a common word that is a whole name through the index of names', async () => {
  const plan = await planOf(() => findMatching(db, wanted('rye')));
  expect(plan).toContain('Bitmap Index Scan on assets_by_name');
  expect(plan).not.toContain('assets_by_words');
});

test('reads the newest assets in index order if the search is empty', async () => {
  const plan = await planOf(() => findMatching(db, wanted('')));
  expect(plan).toContain('Index Scan Backward using assets_by_update');
  // Shared assets are read by their ids, without an index scan over names.
  expect(plan).not.toContain('Bitmap Index Scan on assets_by');
  expect(await planOf(() => list('', { type: null, sort: 'title' }))).not.toContain(
    'Bitmap Heap Scan on assets',
  );
});

describe('assets of other users', () => {
  const listOthers = (
    whose: readonly Way[],
    filter: { sort?: SortKey; search?: string; ownerId?: string } = {},
  ) =>
    listAssets(db, {
      ...{ userId: flo, type: 'RAW', whose, search: '', sort: 'updated', cursor: null, limit: 50, ...filter },
    });

  test('published: reads a page in the order of an index', async () => {
    for (const [sort, index] of [
      ['updated', 'assets_published_by_update'],
      ['created', 'assets_published_by_creation'],
      ['title', 'assets_published_by_title'],
      ['size', 'assets_published_by_size'],
    ] as const) {
      expect(await listOthers(['published'], { sort })).toHaveLength(50);
      expect(await planOf(() => listOthers(['published'], { sort }))).toMatch(
        new RegExp(`Index Scan (Backward )?using ${index}`),
      );
    }
    expect(await planOf(() => listOthers(['published'], { ownerId: bob }))).toMatch(
      /Index Scan Backward using assets_published_by_(owner|update)/,
    );
    expect(await planOf(() => listOthers(['published'], { search: 'batch 7031' }))).toContain(
      'Bitmap Index Scan on assets_published_by_words',
    );
  });

  test('shared: finds the few by their ids', async () => {
    expect(await listOthers(['shared'])).toHaveLength(50);
    for (const sort of ['updated', 'title', 'downloads'] as const) {
      const plan = await planOf(() => listOthers(['shared'], { sort }));
      expect(plan).toMatch(/(Index Scan using|Bitmap Index Scan on) assets_pkey/);
      expect(plan).toContain('asset_shares_by_user');
    }
  });

  test('never scans the whole table for a list, in any combination of ways; by downloads, sorts only readable assets', async () => {
    for (const sort of ['updated', 'created', 'title', 'size'] as const)
      expect(await planOf(() => listOthers(ways, { sort }))).not.toMatch(
        /Seq Scan on assets|Bitmap Heap Scan on assets .*published/,
      );
    const start = performance.now();
    expect(await listOthers(ways, { sort: 'downloads' })).toHaveLength(50);
    if (ASSETS > 20_000) process.stdout.write(`by downloads: ${Math.round(performance.now() - start)} ms\n`);
  });
});
