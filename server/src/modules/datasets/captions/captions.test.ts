import { downloadFile } from '@bakehouse/contract/assets';
import { getCaptions, saveCaptions } from '@bakehouse/contract/captions';
import { beforeAll, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { sourceCalls } from '../../fine-tuning/testing/source-calls.ts';

const server = await testServer();
const { create } = sourceCalls(server);

let ada: TestUser;
beforeAll(async () => {
  ada = await server.signUp('Ada');
});

const dataset = (files: Record<string, string>) => create(ada, 'RAW', 'Chalk', files);
const get = (id: string, as = ada) => server.request(getCaptions, { params: { id } }, { as });
type Change = { path: string; line: number | null; text: string };
const save = (id: string, parent_commit: string, captions: Change[], as = ada) =>
  server.request(saveCaptions, { params: { id }, body: { parent_commit, captions } }, { as });
const read = async (id: string, path: string) => {
  const answer = await server.send(downloadFile, { params: { id, '*': path }, query: {} }, { as: ada });
  return answer.ok ? answer.text() : answer.status;
};

test('writes, changes and removes caption files next to pictures in one commit', async () => {
  const id = await dataset({
    'a.png': '1',
    'a.txt': 'a red\n ball',
    'b.png': '2',
    'c.jpg': '3',
    'c.txt': 'a box',
  });
  const before = await get(id);
  expect(before.file_name).toBeNull();
  expect(before.captions).toEqual([
    { path: 'a.png', line: null, text: 'a red ball' },
    { path: 'b.png', line: null, text: '' },
    { path: 'c.jpg', line: null, text: 'a box' },
  ]);
  const { commit_id } = await save(id, before.commit_id, [
    { path: 'b.png', line: null, text: ' a  tree ' },
    { path: 'c.jpg', line: null, text: '' },
  ]);
  const after = await get(id);
  expect(after.commit_id).toBe(commit_id);
  expect(after.captions.map(({ text }) => text)).toEqual(['a red ball', 'a tree', '']);
  expect([await read(id, 'b.txt'), await read(id, 'c.txt')]).toEqual(['a tree\n', 404]);
  const audited = await server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'asset.committed')
    .where('user_id', '=', ada.userId)
    .execute();
  expect(audited).toEqual([{ detail: { asset_id: id, put: '1', removed: '1' } }]);

  // Another commit was made in the meantime.
  await expect(
    save(id, before.commit_id, [{ path: 'a.png', line: null, text: 'mine' }]),
  ).rejects.toMatchObject({ status: 412, body: { error: { param: 'parent_commit' } } });
  await expect(save(id, commit_id, [{ path: 'd.png', line: null, text: 'a star' }])).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'captions' } },
  });
  expect((await get(id)).commit_id).toBe(commit_id);
});

test('preserves other lines and fields of metadata.jsonl, and appends pictures that it does not list', async () => {
  const lines = ['{"file_name": "a.png", "text": "a ball", "artist": "Ada"}', '', '{"file_name":"b.png"}'];
  const id = await dataset({ 'metadata.jsonl': lines.join('\n'), 'a.png': '1', 'b.png': '2', 'c.png': '3' });
  const { commit_id, file_name, captions } = await get(id);
  expect(file_name).toBe('metadata.jsonl');
  expect(captions).toEqual([
    { path: 'a.png', line: 1, text: 'a ball' },
    { path: 'b.png', line: 3, text: '' },
    { path: 'c.png', line: null, text: '' },
  ]);
  await save(id, commit_id, [
    { path: 'a.png', line: 1, text: 'zwk, a ball' },
    { path: 'c.png', line: null, text: 'a star' },
  ]);
  expect(await read(id, 'metadata.jsonl')).toBe(
    [
      '{"file_name":"a.png","text":"zwk, a ball","artist":"Ada"}',
      '',
      '{"file_name":"b.png"}',
      '{"file_name":"c.png","text":"a star"}',
      '',
    ].join('\n'),
  );
});

test('lists only listed pictures if the dataset has edits, and names an unreadable line', async () => {
  const edit = '{"file_name":"after.png","source":"before.png","text":"make it red"}';
  const edits = await dataset({ 'metadata.jsonl': edit, 'after.png': '1', 'before.png': '2' });
  expect((await get(edits)).captions).toEqual([{ path: 'after.png', line: 1, text: 'make it red' }]);
  const broken = await dataset({ 'metadata.jsonl': `${edit}\n{`, 'after.png': '1' });
  await expect(get(broken)).rejects.toThrow('Line 2 of metadata.jsonl is not a JSON object. Correct it');
});

test('only the owner can write captions, and two pictures with one text file need the same caption', async () => {
  const id = await dataset({ 'a.png': '1', 'a.jpg': '2' });
  const { commit_id } = await get(id);
  const bob = await server.signUp('Bob');
  await expect(save(id, commit_id, [{ path: 'a.png', line: null, text: 'x' }], bob)).rejects.toMatchObject({
    status: 404,
  });
  await expect(
    save(id, commit_id, [
      { path: 'a.png', line: null, text: 'one' },
      { path: 'a.jpg', line: null, text: 'other' },
    ]),
  ).rejects.toThrow('a.png and a.jpg share a.txt: rename one of them');
});

test('a dataset without pictures has no captions', async () => {
  const id = await create(ada, 'RAW', 'Empty', {});
  expect((await get(id)).captions).toEqual([]);
});
