import { assetInfo, assetTree, deleteFile } from '@bakehouse/contract/assets';
import { linkFile } from '@bakehouse/contract/file-links';
import { beforeAll, describe, expect, test } from 'vitest';
import { realPython } from '../../../../testing/real-python.ts';
import { type TestUser, testServer } from '../../../../testing/test-server.ts';
import { assetCalls, refusalOf, sha256 } from '../../testing/asset-calls.ts';

const server = await testServer({ config: realPython });
const { create, upload, uploadAt, sendForm, get, download, preview, storedFiles } = assetCalls(server);

let ada: TestUser;
beforeAll(async () => {
  ada = await server.signUp('Ada');
});

const pathsOf = async (id: string) => (await get(ada, id)).files.map((file) => file.path);

describe('an upload with a path', () => {
  test('is stored at the path, and replaces only a file with the same path', async () => {
    const id = await create(ada, { dataset_type: 'MODEL', title: 'Folders' });
    for (const [path, text] of [
      ['transformer/config.json', '{"of": "transformer"}'],
      ['vae/config.json', '{"of": "vae"}'],
      ['vae/config.json', '{"of": "another vae"}'],
      ['model_index.json', '{}'],
    ] as const)
      expect((await uploadAt(ada, id, path, text)).status).toBe(200);
    expect(await pathsOf(id)).toEqual(['model_index.json', 'transformer/config.json', 'vae/config.json']);
    expect(await (await download(ada, id, 'transformer/config.json')).text()).toBe('{"of": "transformer"}');
    expect(await (await download(ada, id, 'vae/config.json')).text()).toBe('{"of": "another vae"}');
    // Without a path, the name is used as before.
    await upload(ada, id, 'vae/config.json', '{"of": "none"}');
    expect(await pathsOf(id)).toContain('config.json');
  });

  test('is found by every call that names a file', async () => {
    const id = await create(ada);
    const path = 'train data/höfe & wege/rows #1?.csv';
    await uploadAt(ada, id, path, 'q,a\n1,2\n');
    await uploadAt(ada, id, 'metadata.jsonl', `{"file_name": "${path}", "text": "rows"}\n`);
    expect(await (await download(ada, id, path)).text()).toBe('q,a\n1,2\n');
    expect(await preview(ada, id, path)).toMatchObject({ rows: [['1', '2']] });
    const info = { params: { id }, query: { path: 'train data' } };
    expect((await server.request(assetInfo, info, { as: ada })).files).toMatchObject([{ path }]);
    const tree = { params: { id }, query: { path: 'train data' } };
    expect((await server.request(assetTree, tree, { as: ada })).entries).toEqual([
      { type: 'folder', path: 'train data/höfe & wege' },
    ]);
    const { url } = await server.request(linkFile, { params: { id }, query: { path } }, { as: ada });
    const linked = await fetch(new URL(url, server.url));
    expect(linked.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''rows%20%231%3F.csv");
    expect(await linked.text()).toBe('q,a\n1,2\n');
    await server.request(deleteFile, { params: { id }, body: { file_path: path } }, { as: ada });
    expect(await pathsOf(id)).toEqual(['metadata.jsonl']);
    expect(await (await download(ada, id, 'metadata.jsonl')).text()).toBe('');
  });

  test.each(['', '../up.txt', '/etc/passwd', 'a//b.txt', 'a\\b.txt', `a/${'x'.repeat(256)}`])(
    'is rejected by field for an invalid path, and leaves nothing: %j',
    async (path) => {
      const id = await create(ada);
      const before = await storedFiles();
      const answer = await uploadAt(ada, id, path, `bytes for ${path}`);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', param: 'path' } });
      expect(await storedFiles()).toEqual(before);
      expect(await pathsOf(id)).toEqual([]);
    },
  );

  test('is rejected if the path follows the file, and leaves nothing', async () => {
    const id = await create(ada);
    const before = await storedFiles();
    const form = new FormData();
    form.append('data_file', new Blob(['late path']), 'config.json');
    form.append('path', 'vae/config.json');
    const answer = await sendForm(ada, id, form);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { message: 'Send path before the file', param: 'path' },
    });
    expect(await storedFiles()).toEqual(before);
    expect(await pathsOf(id)).toEqual([]);
  });

  test('is rejected if it would be both a file and a folder, because no disk stores both', async () => {
    const id = await create(ada);
    await uploadAt(ada, id, 'vae/config.json', '{}');
    await uploadAt(ada, id, 'vae-old', 'x');
    expect(await refusalOf(await uploadAt(ada, id, 'vae/config.json/more/a.json', '{}'))).toEqual({
      status: 409,
      code: 'conflict',
      message: 'vae/config.json is a file, not a folder. Delete it first',
    });
    const folder = { status: 409, code: 'conflict', message: 'vae is a folder: delete its files first' };
    expect(await refusalOf(await uploadAt(ada, id, 'vae', 'x'))).toEqual(folder);
    expect(await refusalOf(await upload(ada, id, 'vae', 'x'))).toEqual(folder);
    expect(await pathsOf(id)).toEqual(['vae-old', 'vae/config.json']);
    // A common prefix is no conflict.
    expect((await uploadAt(ada, id, 'va', 'x')).status).toBe(200);
  });

  test('checks weights in a folder like any others, and names the whole path', async () => {
    const id = await create(ada, { dataset_type: 'MODEL', title: 'Damaged' });
    const path = 'vae/diffusion_pytorch_model.safetensors';
    expect(await refusalOf(await uploadAt(ada, id, path, 'no weights'))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^vae\/diffusion_pytorch_model\.safetensors /),
    });
  });

  test('returns the file at that path', async () => {
    const id = await create(ada);
    const answer = await (await uploadAt(ada, id, 'a/b.txt', 'bee')).json();
    expect(answer).toMatchObject({ file: { path: 'a/b.txt', size_bytes: 3, sha256: sha256('bee') } });
  });
});
