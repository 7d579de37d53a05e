import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createAsset, deleteAsset, deleteFile, getAsset } from '@bakehouse/contract/assets';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { addTrainingPictures, METADATA } from '@bakehouse/contract/gallery';
import { deleteGeneration } from '@bakehouse/contract/generations';
import { expect, test } from 'vitest';
import { readConfig } from '../../../config.ts';
import { environmentPython, hasLayer, runtimeDir } from '../../../engine/host/environment/environment.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { insertPicture } from '../../generations/testing/insert-picture.ts';

const server = await testServer();
const hasPython = await hasLayer(readConfig({}), 'training');

const prompts = [
  'A loaf of bread',
  'A "roll"\non a plate',
  'Two\nlines \u2028 and \u0085 three',
  '“Brötchen” 🥐 \\ end',
];
const ada = await server.signUp('Ada');
const generated: string[] = [];
for (const prompt of prompts)
  generated.push((await insertPicture(server.services, { userId: ada.userId, prompt })).id);

type Body = CallOf<typeof addTrainingPictures>['body'];
const add = (as: TestUser, body: Body, idempotencyKey?: string) =>
  server.request(addTrainingPictures, { body }, { as, idempotencyKey });
const makeAsset = (as: TestUser, dataset_type: 'RAW' | 'MODEL', title: string) =>
  server.request(createAsset, { body: { dataset_type, title, user_id: as.userId } }, { as });
async function upload(as: TestUser, id: string, name: string, text: string): Promise<void> {
  const body = new FormData();
  body.set('data_file', new Blob([text]), name);
  const headers = { 'x-api-key': as.apiKey };
  const answer = await fetch(`${server.url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body });
  expect(answer.status, await answer.text()).toBe(200);
}
const read = async (as: TestUser, id: string, name: string) => {
  const headers = { 'x-api-key': as.apiKey };
  return Buffer.from(
    await (await fetch(`${server.url}/api/v1/asset/${id}/files/${name}`, { headers })).arrayBuffer(),
  );
};

test('creates a dataset from pictures, and adds each picture once', async () => {
  const [loaf = '', roll = ''] = generated;
  const first = await add(ada, { ids: [loaf], title: 'Breads' }, 'once');
  expect(first).toMatchObject({ title: 'Breads', added: 1, present: 0 });
  expect(await add(ada, { ids: [loaf], title: 'Breads' }, 'once'), 'the same call').toEqual(first);
  const { dataset_id } = first;
  const second = await add(ada, { ids: [loaf, roll], dataset_id });
  expect(second).toMatchObject({ dataset_id, title: 'Breads', added: 1, present: 1 });
  expect(second.revision_id).not.toBe(first.revision_id);
  const third = await add(ada, { ids: [roll, loaf], dataset_id });
  expect(third).toMatchObject({ revision_id: second.revision_id, added: 0, present: 2 });
  const { files, dataset_type } = await server.request(getAsset, { params: { id: dataset_id } }, { as: ada });
  expect(dataset_type).toBe('RAW');
  const audited = server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('action', '=', 'asset.files_added');
  const row = { detail: { asset_id: dataset_id } };
  expect(await audited.execute()).toMatchObject([row, row]);
  expect(files.map((file) => file.path)).toEqual([
    expect.stringMatching(/^a-loaf-of-bread-[0-9a-f]{12}\.png$/),
    expect.stringMatching(/^a-roll-on-a-plate-[0-9a-f]{12}\.png$/),
    'metadata.jsonl',
  ]);
});

test('a repeated call gets the same response, even after its picture and dataset are deleted', async () => {
  const { id } = await insertPicture(server.services, { userId: ada.userId, prompt: 'Gone' });
  const body = { ids: [id], title: 'Gone' };
  const first = await add(ada, body, 'repeated');
  await server.request(deleteGeneration, { params: { id } }, { as: ada });
  await server.request(deleteAsset, { params: { id: first.dataset_id } }, { as: ada });
  expect(await add(ada, body, 'repeated')).toEqual(first);
  await expect(add(ada, { ...body, title: 'Another' }, 'repeated')).rejects.toMatchObject({ status: 409 });
});

test('deletes a picture and its line in one revision, and adds both again', async () => {
  const { dataset_id } = await add(ada, { ids: generated.slice(0, 2) });
  const find = () => server.request(getAsset, { params: { id: dataset_id } }, { as: ada });
  const pathsOf = async () => (await find()).files.map((file) => file.path);
  const metadataOf = async () => (await read(ada, dataset_id, METADATA)).toString();
  const [before, metadata] = [await pathsOf(), await metadataOf()];
  const [loaf = '', roll = ''] = before;
  const [loafLine = '', rollLine = ''] = metadata.split(/(?<=\n)/);
  const remove = (file_path: string) =>
    server.request(deleteFile, { params: { id: dataset_id }, body: { file_path } }, { as: ada });
  const { revision_id } = await remove(loaf);
  expect(await find()).toMatchObject({ revision_id });
  expect(await pathsOf()).toEqual([roll, METADATA]);
  expect(await metadataOf()).toBe(rollLine);
  expect(await add(ada, { ids: generated.slice(0, 2), dataset_id })).toMatchObject({ added: 1, present: 1 });
  expect(await pathsOf()).toEqual(before);
  expect(await metadataOf()).toBe(rollLine + loafLine);
  // Two concurrent removals: neither restores the other's line.
  await Promise.all([remove(loaf), remove(roll)]);
  expect(await pathsOf()).toEqual([METADATA]);
  expect(await metadataOf()).toBe('');
});

test('adds a picture whose line was uploaded before it, and leaves that line unchanged', async () => {
  const ids = generated.slice(0, 1);
  const { dataset_id: first } = await add(ada, { ids });
  const metadata = (await read(ada, first, METADATA)).toString().replace('A loaf of bread', 'My own words');
  const dataset_id = await makeAsset(ada, 'RAW', 'Lines first');
  await upload(ada, dataset_id, METADATA, metadata);
  expect(await add(ada, { ids, dataset_id })).toMatchObject({ added: 1, present: 0 });
  expect((await read(ada, dataset_id, METADATA)).toString()).toBe(metadata);
});

test('skips edits, whose prompts are not captions', async () => {
  const { userId } = ada;
  const edit = await insertPicture(server.services, {
    ...{ userId, prompt: 'Make it blue', generator: 'flux-kontext' },
  });
  const { dataset_id, ...counts } = await add(ada, { ids: [edit.id, ...generated.slice(0, 1)] });
  expect(counts).toMatchObject({ added: 1, present: 0, left_out: 1 });
  expect((await read(ada, dataset_id, 'metadata.jsonl')).toString()).toMatch(
    /^\{"file_name":"a-loaf[^\n]*\}\n$/,
  );
  await expect(add(ada, { ids: [edit.id] })).rejects.toMatchObject({
    status: 400,
    body: {
      error: { param: 'ids', message: expect.stringContaining('their prompts say what to change') },
    },
  });
});

test.skipIf(!hasPython)(
  'picture training reads them, with any characters in prompts',
  { timeout: 180_000 },
  async () => {
    const { dataset_id: id } = await add(ada, { ids: generated });
    const { files } = await server.request(getAsset, { params: { id } }, { as: ada });
    const folder = path.join(await temporaryFolder(), 'dataset');
    await mkdir(folder);
    for (const { path: name } of files) await writeFile(path.join(folder, name), await read(ada, id, name));
    // All pictures of the stub are the same single pixel.
    const program = `import json, sys
from pathlib import Path
from PIL import Image
from bakehouse_runtime.image.training.captioned import Captions, read_picture_set
folder = Path(sys.argv[1])
for number, path in enumerate(sorted(folder.glob("*.png"))):
    Image.effect_noise((64, 64), 20 + number).convert("RGB").save(path)
found = read_picture_set(folder, "metadata.jsonl", Captions(None, 10**6, len), 64)
asked = [" ".join(prompt.split()) for prompt in json.loads(sys.argv[2])]
print(json.dumps({"read": [one.text for one in found.kept], "asked": asked}))`;
    const env = { ...process.env, PYTHONPATH: path.join(runtimeDir, 'src') };
    const python = await environmentPython(readConfig({}));
    const { stdout } = await promisify(execFile)(python, ['-c', program, folder, JSON.stringify(prompts)], {
      env,
    });
    const { read: texts, asked } = JSON.parse(stdout) as Record<'read' | 'asked', string[]>;
    expect(asked).toHaveLength(prompts.length);
    expect(texts).toEqual(asked);
  },
);

test.each([
  ['rows.csv', 'a,b\n', 'has files but no metadata.jsonl'],
  ['metadata.jsonl', 'no json\n', 'line 1 is no object with a file_name'],
  ['metadata.jsonl', '{"file_name":"a.png","text":"a","source":"b.png"}\n', 'it describes edits'],
])('leaves a dataset of another layout unchanged: %s %s', async (name, content, sentence) => {
  const ids = generated.slice(0, 1);
  const dataset_id = await makeAsset(ada, 'RAW', 'Others');
  await upload(ada, dataset_id, name, content);
  await expect(add(ada, { ids, dataset_id })).rejects.toMatchObject({
    status: 409,
    body: { error: { param: 'dataset_id', message: expect.stringContaining(sentence) } },
  });
  expect((await read(ada, dataset_id, name)).toString()).toBe(content);
});

test('adds pictures to an empty dataset, and starts a new line after lines without a final line break', async () => {
  const ids = generated.slice(0, 1);
  const dataset_id = await makeAsset(ada, 'RAW', 'Empty');
  expect(await add(ada, { ids, dataset_id })).toMatchObject({ dataset_id, title: 'Empty', added: 1 });
  const other = await makeAsset(ada, 'RAW', 'Without end');
  await upload(ada, other, 'metadata.jsonl', '{"file_name":"a.png","text":"a"}');
  expect(await add(ada, { ids, dataset_id: other })).toMatchObject({ added: 1 });
  expect((await read(ada, other, 'metadata.jsonl')).toString()).toMatch(
    /^\{"file_name":"a\.png","text":"a"\}\n\{"file_name":"a-loaf[^\n]*\}\n$/,
  );
});

test("rejects another user's dataset, another user's pictures, and a model", async () => {
  const bob = await server.signUp('Bob');
  const ids = generated.slice(0, 1);
  const [mine, his] = [await makeAsset(ada, 'RAW', 'Mine'), await makeAsset(bob, 'RAW', 'His')];
  await expect(add(ada, { ids, dataset_id: his })).rejects.toMatchObject({ status: 404 });
  await expect(add(bob, { ids, dataset_id: his })).rejects.toMatchObject({ status: 404 });
  const model = await makeAsset(ada, 'MODEL', 'A model');
  await expect(add(ada, { ids, dataset_id: model })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'dataset_id' } },
  });
  await expect(add(ada, { ids, dataset_id: mine, title: ' ' })).rejects.toMatchObject({
    status: 400,
    body: { error: { param: 'title' } },
  });
});
