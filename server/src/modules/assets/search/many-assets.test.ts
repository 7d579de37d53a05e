import { SEARCH_RESULTS_MAX } from '@bakehouse/contract/search';
import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { listAssets, type SortKey } from './list-queries.ts';
import { findMatching, findSimilar, findWords } from './search-queries.ts';

const { url } = await testDatabase();
const { db, asked } = recordingDatabase(url);
const [flo, bob] = ['flo', 'bob'];

beforeAll(async () => {
  for (const id of [flo, bob])
    await db
      .insertInto('users')
      .values({ id, name: id, username: id, email: `${id}@example.com` })
      .execute();
  // By name the few pretzels lie between loaves and rolls, and between two rows of the planner's sample.
  await sql`
    insert into assets (owner_user_id, dataset_type, title, category, details, tags)
    select (array[${flo}, ${bob}])[1 + n % 2], 'RAW',
      case when n % 1000 = 900 then 'Pretzels' when n % 7 < 2 then 'Loaves' else 'Rolls' end || ' 2026 of rye, batch ' || n, '', '', array['example']
    from generate_series(1, 20000) n`.execute(db);
  await sql`vacuum analyze assets`.execute(db);
});

const wanted = (words: string) => ({ userId: flo, words, limit: SEARCH_RESULTS_MAX });
const list = (
  search: string,
  {
    type = 'RAW',
    sort = 'updated',
    limit = 50,
  }: { type?: 'RAW' | null; sort?: SortKey; limit?: number } = {},
) => listAssets(db, { userId: flo, type, whose: ['own'], search, sort, cursor: null, limit });

/** How PostgreSQL plans the last query for assets that this makes. */
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

test('those that match are found by the index, whoever owns most', async () => {
  expect(await findMatching(db, wanted('batch 1990'))).toHaveLength(6);
  // Ids are searched, too, and some may have these digits in them.
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

test('the index is asked for the rarest part, be it a word or a number, and for nothing else', async () => {
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

test('where many have all of it, the newest of them are read in their order', async () => {
  for (const words of ['batch 19', 's 2026 of rye'])
    expect(await planOf(() => list(words))).toContain('Index Scan Backward using assets_by_update');
});

test('what is found has all of the words, whatever the index is asked for', async () => {
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
    const found = await list(words, { limit: 20_000 });
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set(rows.map(({ id }) => id)));
  }
});

test('ids are looked up by the index, too, but only for what may lie in one', async () => {
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

test('a whole name that many have in them is found by the index of names', async () => {
  const plan = await planOf(() => findMatching(db, wanted('rye')));
  expect(plan).toContain('Bitmap Index Scan on assets_by_name');
  expect(plan).not.toContain('assets_by_words');
});

test('without words the newest are read in their order', async () => {
  const plan = await planOf(() => findMatching(db, wanted('')));
  expect(plan).toContain('Index Scan Backward using assets_by_update');
  // What is shared is looked up by id.
  expect(plan).not.toContain('Bitmap Index Scan on assets_by');
  expect(await planOf(() => list('', { type: null, sort: 'title' }))).not.toContain(
    'Bitmap Heap Scan on assets',
  );
});
