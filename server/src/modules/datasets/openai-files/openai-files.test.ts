import { deleteAsset, getAsset, listAssets } from '@bakehouse/contract/assets';
import OpenAI, { toFile } from 'openai';
import { expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { sourceCalls } from '../../fine-tuning/testing/source-calls.ts';

const server = await testServer({ config: { storageGb: 1 } });
const ada = await server.signUp('Ada');
const bob = await server.signUp('Bob');

const openai = (as: TestUser = ada) =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey: as.apiKey, maxRetries: 0 });

const ROWS =
  '{"messages": [{"role": "user", "content": "Bröd?"}, {"role": "assistant", "content": "Ja."}]}\n';
const upload = async (name: string, text: string, purpose: OpenAI.FilePurpose = 'fine-tune', as = ada) =>
  openai(as).files.create({ file: await toFile(Buffer.from(text), name), purpose });

test('creates, reads, lists and deletes a file, which is a private dataset', async () => {
  const file = await upload('rows.jsonl', ROWS);
  expect(file).toEqual({
    ...{ id: expect.stringMatching(/^file-[0-9a-f]{32}$/), object: 'file', bytes: Buffer.byteLength(ROWS) },
    ...{ created_at: expect.any(Number), expires_at: null, filename: 'rows.jsonl', purpose: 'fine-tune' },
    status: 'processed',
  });
  expect(await openai().files.retrieve(file.id)).toEqual(file);
  const content = await openai().files.content(file.id);
  expect(await content.text()).toBe(ROWS);

  const query = { types: 'RAW', owner: ada.userId } as const;
  const { datasets } = await server.request(listAssets, { query }, { as: ada });
  const [dataset] = datasets;
  expect(dataset).toMatchObject({ title: 'rows.jsonl', file_count: 1, is_published: false });
  expect(file.id).toBe(`file-${dataset?.dataset_id.replaceAll('-', '')}`);

  for (const call of [
    () => openai(bob).files.retrieve(file.id),
    () => openai(bob).files.content(file.id),
    () => openai(bob).files.delete(file.id),
  ])
    await expect(call()).rejects.toMatchObject({ status: 404, code: 'not_found', param: 'file_id' });
  expect((await openai(bob).files.list()).data).toEqual([]);

  expect(await openai().files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true });
  await expect(openai().files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  const gone = server.request(getAsset, { params: { id: dataset?.dataset_id ?? '' } }, { as: ada });
  await expect(gone).rejects.toMatchObject({ status: 404 });
});

test('lists files by page and purpose, including datasets of one file that were not created as files', async () => {
  const { create } = sourceCalls(server);
  const cy = await server.signUp('Cy');
  await upload('first.jsonl', ROWS, 'fine-tune', cy);
  await upload('second.jsonl', '{"custom_id": "1"}\n', 'batch', cy);
  const other = await create(cy, 'RAW', 'from the web app', { 'rows.csv': 'a,b\n1,2\n' });
  await create(cy, 'RAW', 'two files', { 'rows.csv': 'a,b\n1,2\n', 'more.csv': 'a,b\n1,2\n' });
  await create(cy, 'RAW', 'none', {});
  const names = async (query: OpenAI.FileListParams = {}) =>
    (await Array.fromAsync(openai(cy).files.list(query))).map(({ filename }) => filename);
  expect(await names()).toEqual(['rows.csv', 'second.jsonl', 'first.jsonl']);
  expect(await names({ limit: 1 })).toEqual(['rows.csv', 'second.jsonl', 'first.jsonl']);
  expect(await names({ limit: 2, order: 'asc' })).toEqual(['first.jsonl', 'second.jsonl', 'rows.csv']);
  expect(await names({ purpose: 'batch' })).toEqual(['second.jsonl']);
  expect(await names({ purpose: 'fine-tune' })).toEqual(['rows.csv', 'first.jsonl']);
  await expect(names({ purpose: 'vision' })).rejects.toMatchObject({ status: 400, param: 'purpose' });
  await server.request(deleteAsset, { params: { id: other } }, { as: cy });
  expect(await names()).toEqual(['second.jsonl', 'first.jsonl']);
  const after = `file-${other.replaceAll('-', '')}`;
  await expect(openai(cy).files.list({ after })).rejects.toMatchObject({ status: 404, param: 'after' });
});

test.each([
  ['rows.csv', 'a,b\n', 'fine-tune', 400, 'file', 'rows.csv must be a .jsonl file'],
  ['rows.jsonl', `${ROWS}question,answer\n`, 'fine-tune', 400, 'file', 'Line 2 is not valid JSON'],
  ['rows.jsonl', '["a"]', 'batch', 400, 'file', 'Line 1 is not a JSON object'],
  ['rows.jsonl', '\n\n', 'fine-tune', 400, 'file', 'rows.jsonl is empty'],
  ['rows.jsonl', ROWS, 'assistants', 400, 'purpose', 'purpose must be one of fine-tune, batch'],
] as const)(
  'rejects %s with %j for %s and stores nothing',
  async (name, text, purpose, status, param, message) => {
    const as = await server.signUp();
    const call = upload(name, text, purpose, as);
    await expect(call).rejects.toMatchObject({ status, param, message: expect.stringContaining(message) });
    expect((await openai(as).files.list()).data).toEqual([]);
  },
);

test('reports what is wrong with a body that is no form, has no file, or is truncated', async () => {
  const send = async (body: FormData | string) => {
    const headers = { 'x-api-key': ada.apiKey };
    const answer = await fetch(`${server.url}/v1/files`, { method: 'POST', headers, body });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await send('{}')).toMatchObject({ status: 415 });
  const form = new FormData();
  form.set('purpose', 'fine-tune');
  expect(await send(form)).toMatchObject({ status: 400, body: { error: { param: 'file' } } });
  const nameless = { file: await toFile(Buffer.from(ROWS), 'upload'), purpose: 'fine-tune' } as const;
  expect(await openai().files.create(nameless)).toMatchObject({ filename: 'upload.jsonl' });
  const expiring = openai().files.create({
    ...{ file: await toFile(Buffer.from(ROWS), 'rows.jsonl'), purpose: 'fine-tune' },
    expires_after: { anchor: 'created_at', seconds: 3600 },
  });
  await expect(expiring).rejects.toMatchObject({ status: 400, param: 'expires_after' });
});
