import { getCard, listAssetCommits, saveCard } from '@bakehouse/contract/asset-commits';
import { beforeAll, expect, test, vi } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../testing/asset-calls.ts';
import { ensureCardData, readCardJob } from './card-data.ts';
import { toCardMetadata } from './card-metadata.ts';
import { parseMetadata } from './parse-card.ts';

const server = await testServer();
const { create, upload, get, download } = assetCalls(server);

let ada: TestUser;
let eve: TestUser;
beforeAll(async () => {
  [ada, eve] = [await server.signUp('Ada'), await server.signUp('Eve')];
});

const read = (id: string, as = ada) => server.request(getCard, { params: { id } }, { as });
const save = (id: string, body: { content: string; message?: string; parent_commit: string }, as = ada) =>
  server.request(saveCard, { params: { id }, body }, { as });

const CARD = `---
license: apache-2.0
language:
- en
- de
tags: [bread, rye]
base_model: ada/loaf
datasets: [ada/facts]
---
# Facts
`;

test('creates, changes and lists a card as commits', async () => {
  const id = await create(ada);
  const empty = await read(id);
  expect(empty).toMatchObject({ content: '', is_whole: true });
  const first = await save(id, { content: CARD, parent_commit: empty.commit_id });
  expect(first).toMatchObject({ number: 1, message: 'Create README.md', author: 'ada-1' });
  const card = await read(id);
  expect(card).toEqual({ content: CARD, is_whole: true, commit_id: first.commit_id });
  await save(id, { content: `${CARD}More.\n`, message: 'Say more', parent_commit: card.commit_id });
  const asset = await get(ada, id);
  expect(asset.card).toBe(`${CARD}More.\n`);
  expect(asset.card_metadata).toEqual({
    license: 'apache-2.0',
    languages: ['en', 'de'],
    tags: ['bread', 'rye'],
    base_models: ['ada/loaf'],
    datasets: ['ada/facts'],
    pipeline_tag: null,
    library_name: null,
  });
  expect(asset.repo_id).toBe('ada-1/Facts');
  const { commits, next_cursor } = await server.request(
    listAssetCommits,
    { params: { id }, query: { limit: 2 } },
    { as: ada },
  );
  expect(commits.map(({ message }) => message)).toEqual(['Say more', 'Create README.md']);
  const rest = await server.request(
    listAssetCommits,
    { params: { id }, query: { cursor: next_cursor ?? '' } },
    { as: ada },
  );
  expect(rest).toMatchObject({ commits: [{ number: 0, revision_id: null }], next_cursor: null });
});

test('rejects a stale parent without losing data', async () => {
  const id = await create(ada);
  const { commit_id: parent_commit } = await read(id);
  await upload(ada, id, 'facts.csv', 'a\n1\n');
  await expect(save(id, { content: '# Late', parent_commit })).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('The files have changed since you opened this card'),
  });
  expect((await get(ada, id)).card).toBeNull();
  expect(await read(id)).toMatchObject({ content: '' });
  // YAML with only comments is valid and means empty metadata.
  await save(id, { content: '---\n# license: mit\n---\n', parent_commit: (await read(id)).commit_id });
  // Saving identical content succeeds even if the parent commit is outdated.
  const newer = await read(id);
  await save(id, { content: '# Facts', parent_commit: newer.commit_id });
  await expect(save(id, { content: '# Facts', parent_commit: newer.commit_id })).resolves.toMatchObject({
    number: 3,
  });
});

test('only the owner writes a card, and no other user reads it', async () => {
  const id = await create(ada);
  const { commit_id: parent_commit } = await read(id);
  await expect(read(id, eve)).rejects.toMatchObject({ status: 404 });
  await expect(save(id, { content: '# Eve', parent_commit }, eve)).rejects.toMatchObject({ status: 404 });
});

test('rejects a card that is empty, too long or has invalid metadata', async () => {
  const id = await create(ada);
  const { commit_id: parent_commit } = await read(id);
  await expect(save(id, { content: '', parent_commit })).rejects.toThrow('The card is empty');
  await expect(
    save(id, { content: `<script>${'x'.repeat(1024 * 1024)}</script>`, parent_commit }),
  ).rejects.toMatchObject({ status: 413, message: expect.stringContaining('at most 1 MB') });
  await expect(save(id, { content: 'x'.repeat(10 * 1024 * 1024), parent_commit })).rejects.toMatchObject({
    status: 413,
  });
  await expect(save(id, { content: '---\ntags: [a\n---\n', parent_commit })).rejects.toThrow(
    'The metadata of the card cannot be read',
  );
  await expect(save(id, { content: '---\njust words\n---\n', parent_commit })).rejects.toThrow(
    'it has to be names and values',
  );
  await expect(save(id, { content: longMetadata, parent_commit })).rejects.toThrow(
    'The metadata of the card cannot be read: it may have at most 64 KB',
  );
  await expect(save(id, { content: '# A', parent_commit: 'main' })).rejects.toThrow(
    'parent_commit must be the id of a commit',
  );
  expect((await get(ada, id)).file_count).toBe(0);
});

test('shows the start of an uploaded card of 10 MB, and does not truncate it in an edit', async () => {
  const id = await create(ada);
  await upload(ada, id, 'README.md', `# Long\n${'<script>alert(1)</script>\n'.repeat(400_000)}`);
  const { card } = await get(ada, id);
  expect(card?.length).toBe(512 * 1024);
  expect(await read(id)).toMatchObject({ is_whole: false });
  const whole = await (await download(ada, id, 'README.md')).text();
  expect(whole.length).toBe(10_400_007);
});

/** A parser that checks for unique keys would compare each of the 12,000 keys with all others. */
const longMetadata = `---\nlicense: mit\n${Array.from({ length: 12_000 }, (_, index) => `n${index}: 1\n`).join('')}---\n`;

test('parses long metadata without comparing all keys with each other', () => {
  const names = longMetadata.slice(4, -4).replace(/^n[4-9].*\n/gm, '');
  expect(parseMetadata(names).data).toMatchObject({ license: 'mit' });
  expect(parseMetadata('license: mit\nlicense: apache-2.0').data).toEqual({ license: 'apache-2.0' });
});

test('converts metadata to lists of names, whatever the types of its values', () => {
  expect(toCardMetadata(null)).toBeNull();
  const { data } = parseMetadata(
    'license: other\nlicense_name: ours\ntags: [1, " a ", a]\nlanguage: 7\nx: !!str 5',
  );
  expect(toCardMetadata(data)).toMatchObject({ license: 'ours', tags: ['a'], languages: [] });
  expect(data).toMatchObject({ x: '5' });
});

test.each([
  ['an unknown tag', `a: ${'!x '.repeat(20_000)}`, /tag/],
  ['a tag of a key', '!x a: 1', /tag/],
  ['a tag of the document', '!x\na: 1', /tag/],
  ['too many values', 'a: [' + '1,'.repeat(30_000) + ']', /values/],
  ['deep lists', '['.repeat(60_000), /values|deep/],
  ['deep items', `a:\n  ${'- '.repeat(1000)}x`, /deep/],
  ['an unterminated list', 'tags: [a', /Flow|\]/],
  ['an alias without a target', 'a: *b', /alias/i],
  ['itself', 'a: &a [*a]', /itself|alias/i],
  ['repeated aliases', `a: &a "${'x'.repeat(20_000)}"\nb: [${'*a,'.repeat(50)}]`, /repeat/],
  ['a NUL', 'a: "\\0"', /stored/],
])('rejects metadata with %s without logging a warning', (_, metadata, problem) => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  expect(parseMetadata(metadata)).toEqual({ data: null, problem: expect.stringMatching(problem) });
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});

test('parses a card when it is stored, never when it is read', async () => {
  const id = await create(ada);
  await upload(ada, id, 'README.md', CARD.replace('apache-2.0', 'mit'));
  const { sandbox } = server.services;
  const enclose = vi.spyOn(sandbox, 'enclose');
  expect((await get(ada, id)).card_metadata).toMatchObject({ license: 'mit' });
  const tags = async () =>
    (await server.services.db.selectFrom('assets').selectAll().where('id', '=', id).executeTakeFirst())
      ?.card_tags;
  expect(await tags()).toEqual([
    'bread',
    'rye',
    'license:mit',
    'en',
    'de',
    'language:en',
    'language:de',
    'base_model:ada/loaf',
    'dataset:ada/facts',
  ]);
  // Simulates a card that was stored without being parsed.
  await server.services.db.deleteFrom('card_data').execute();
  await server.services.db.updateTable('assets').set({ card_tags: [] }).execute();
  expect((await get(ada, id)).card_metadata).toBeNull();
  expect((await get(ada, id)).card_metadata).toBeNull();
  expect(enclose).not.toHaveBeenCalled();
  const { sha256, size_bytes } = await server.services.db
    .selectFrom('asset_files')
    .select(['sha256', 'size_bytes'])
    .where('asset_id', '=', id)
    .executeTakeFirstOrThrow();
  const signal = new AbortController().signal;
  await readCardJob.run(server.services, { sha256, sizeBytes: Number(size_bytes) }, signal);
  expect((await get(ada, id)).card_metadata).toMatchObject({ license: 'mit' });
  expect(await tags()).toContain('license:mit');
  enclose.mockRestore();
});

test('does not parse a card with invalid metadata again', async () => {
  const id = await create(ada);
  await upload(ada, id, 'README.md', '---\na: *unknown\n---\n# Facts\n');
  const card = await server.services.db
    .selectFrom('asset_files')
    .select(['sha256', 'size_bytes'])
    .where('asset_id', '=', id)
    .executeTakeFirstOrThrow();
  const enclose = vi.spyOn(server.services.sandbox, 'enclose');
  const find = () => ensureCardData(server.services, card, ada.userId);
  expect(await find()).toBeNull();
  expect(enclose).not.toHaveBeenCalled();
  // No job has parsed it yet.
  await server.services.db.updateTable('card_data').set({ parsed: false }).execute();
  expect(await find()).toBeNull();
  expect(await find()).toBeNull();
  expect(enclose).toHaveBeenCalledOnce();
  enclose.mockRestore();
});
