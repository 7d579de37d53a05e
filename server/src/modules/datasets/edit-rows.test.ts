import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { listAssetCommits } from '@bakehouse/contract/asset-commits';
import { downloadFile, getAsset, previewFile } from '@bakehouse/contract/assets';
import { editRows, type RowEdit } from '@bakehouse/contract/data-files';
import { beforeAll, expect, test } from 'vitest';
import { realPython } from '../../testing/real-python.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { assetCalls } from '../assets/testing/asset-calls.ts';
import { sourceCalls } from '../fine-tuning/testing/source-calls.ts';

const server = await testServer({ config: realPython });
const { create } = sourceCalls(server);

let ada: TestUser;
let bo: TestUser;
beforeAll(async () => {
  ada = await server.signUp('Ada');
  bo = await server.signUp('Bo');
});

const revisionOf = async (id: string) =>
  (await server.request(getAsset, { params: { id } }, { as: ada })).revision_id ?? '';
const rowOf = async (id: string, file: string, at: number) => {
  const query = { path: file, offset: at, limit: 1 };
  return (await server.request(previewFile, { params: { id }, query }, { as: ada })).whole_row ?? '';
};
const read = async (id: string, file: string) => {
  const sent = await server.send(downloadFile, { params: { id, '*': file }, query: {} }, { as: ada });
  return Buffer.from(await sent.arrayBuffer());
};
type Saved = { id: string; file: string; edits: RowEdit[]; revision?: string; key?: string; as?: TestUser };
const save = async ({ id, file, edits, revision, key = 'k', as = ada }: Saved) =>
  server.request(
    editRows,
    { params: { id }, body: { path: file, revision_id: revision ?? (await revisionOf(id)), edits } },
    { as, idempotencyKey: createHash('sha256').update(`${id} ${file} ${key}`).digest('hex') },
  );

test('changes, deletes and adds rows of a csv file as one commit, once per key', async () => {
  const id = await create(ada, 'RAW', 'Bread', {
    'a b.csv': 'question,answer\r\nrye?,"yes, fresh"\r\nbroken\r\noats?,no\r\nspelt?,no\r\n',
  });
  const revision = await revisionOf(id);
  const saved = {
    ...{ id, file: 'a b.csv', revision },
    edits: [
      { at: 0, was: await rowOf(id, 'a b.csv', 0), cells: '{"answer": "no, \\"sold\\""}' },
      { at: 1, was: await rowOf(id, 'a b.csv', 1) },
      { cells: '{"question": "teff?", "answer": "soon"}' },
    ],
  };
  const answer = await save(saved);
  expect(String(await read(id, 'a b.csv'))).toBe(
    'question,answer\r\nrye?,"no, ""sold"""\r\nbroken\r\nspelt?,no\r\nteff?,soon\r\n',
  );
  expect(answer.revision_id).toBe(await revisionOf(id));
  expect(await save(saved)).toEqual(answer);
  const { commits } = await server.request(listAssetCommits, { params: { id }, query: {} }, { as: ada });
  expect(commits[0]).toMatchObject({ ...answer, message: 'Edit 3 rows of a b.csv' });
  const audited = await server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'asset.committed')
    .where('user_id', '=', ada.userId)
    .execute();
  expect(audited).toEqual([{ detail: { asset_id: id, put: '1', removed: '0' } }]);
});

test('edits JSON lines and Parquet by the rows that the preview shows', async () => {
  const parquet = await readFile(path.join(import.meta.dirname, 'preview/fixtures/dialogue.parquet'));
  const lines = '{"id":12345678901234567890,"at":1.0,"turns":[{"a":"b"}]}\n{"id":2}\n';
  const id = await create(ada, 'RAW', 'Kinds', { 'd.jsonl': lines, 'd.parquet': parquet });
  const row = await rowOf(id, 'd.jsonl', 0);
  await save({ id, file: 'd.jsonl', edits: [{ at: 0, was: row, cells: '{"turns": [], "new": null}' }] });
  expect(String(await read(id, 'd.jsonl'))).toBe(
    '{"id":12345678901234567890,"at":1.0,"turns":[], "new": null}\n{"id":2}\n',
  );

  const first = await rowOf(id, 'd.parquet', 0);
  await save({ id, file: 'd.parquet', edits: [{ at: 0, was: first }] });
  expect(await rowOf(id, 'd.parquet', 0)).not.toBe(first);
  await save({ id, file: 'd.parquet', key: '2', edits: [{ cells: first }] });
  const { total_rows: total } = await server.request(
    previewFile,
    { params: { id }, query: { path: 'd.parquet' } },
    { as: ada },
  );
  expect(await rowOf(id, 'd.parquet', (total ?? 0) - 1)).toBe(first);
});

test('edits a row of a large file, whose rows are numbered without reading it to the end', async () => {
  const filler = 'x'.repeat(900);
  const rows = Array.from({ length: 20_000 }, (_, at) => `${at},"${filler}"\n`);
  const id = await create(ada, 'RAW', 'Large', { 'd.csv': `n,text\n${rows.join('')}` });
  const was = await rowOf(id, 'd.csv', 19_500);
  expect(JSON.parse(was)).toEqual({ n: '19500', text: filler });
  await save({ id, file: 'd.csv', edits: [{ at: 19_500, was, cells: '{"text": "short"}' }] });
  rows[19_500] = '19500,"short"\n';
  expect(String(await read(id, 'd.csv'))).toBe(`n,text\n${rows.join('')}`);
});

test('changes nothing if the file or the row is not the one that was edited', async () => {
  const { upload } = assetCalls(server);
  const id = await create(ada, 'RAW', 'Late', { 'd.csv': 'a\n1\n', 'other.csv': 'a\n1\n' });
  const revision = await revisionOf(id);
  const edits = [{ at: 0, was: '{"a": "1"}', cells: '{"a": "2"}' }];
  await expect(save({ id, file: 'd.csv', edits: [{ at: 0, was: '{"a": "3"}' }] })).rejects.toMatchObject({
    status: 409,
    body: { error: { param: 'edits', message: expect.stringContaining('Row 1 is not the row that you') } },
  });
  // Another file may change.
  await upload(ada, id, 'other.csv', 'a\n3\n');
  await save({ id, file: 'd.csv', edits, revision });
  await expect(save({ id, file: 'd.csv', edits, revision, key: 'late' })).rejects.toMatchObject({
    status: 409,
    body: {
      error: { param: 'revision_id', message: expect.stringContaining('d.csv has changed since you') },
    },
  });
  expect(String(await read(id, 'd.csv'))).toBe('a\n2\n');
});

test('names the edit that does not fit, and refuses other formats and other users', async () => {
  const id = await create(ada, 'RAW', 'Refused', { 'd.csv': 'a\n1\n', 'd.json': '[{"a": 1}]' });
  const edits = [{ cells: '{"a": "2"}' }, { cells: '{"b": "2"}' }];
  await expect(save({ id, file: 'd.csv', edits })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'edits.1', message: 'The new row: the file has no column b.' } },
  });
  await expect(save({ id, file: 'd.json', edits })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'path', message: expect.stringContaining('only csv, tsv, jsonl and parquet') } },
  });
  await expect(save({ id, file: 'd.csv', edits: [{ at: 0, cells: '{}' }] })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'edits.0' } },
  });
  await expect(
    save({ id, file: 'd.csv', edits, as: bo, revision: await revisionOf(id) }),
  ).rejects.toMatchObject({ status: 404 });
});

test('refuses rows above the quota', async () => {
  const small = await testServer({ config: { ...realPython, storageGb: 100 / 1024 ** 3 } });
  const cy = await small.signUp('Cy');
  const id = await sourceCalls(small).create(cy, 'RAW', 'Small', { 'd.csv': `a\n${'1'.repeat(60)}\n` });
  const { revision_id } = await small.request(getAsset, { params: { id } }, { as: cy });
  const body = { path: 'd.csv', revision_id: revision_id ?? '', edits: [{ cells: '{"a": "2"}' }] };
  await expect(small.request(editRows, { params: { id }, body }, { as: cy })).rejects.toMatchObject({
    status: 413,
  });
});
