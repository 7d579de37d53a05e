import { execFile } from 'node:child_process';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { listAssets } from '@bakehouse/contract/assets';
import { expect, test } from 'vitest';
import type { AppError } from '../../../platform/errors.ts';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { findAssetUse as findDeploymentUse } from '../../deployments/find-asset-use.ts';
import { insertModel } from '../../deployments/testing/test-models.ts';
import { findAssetUse as findTrainingUse } from '../../fine-tuning/find-asset-use.ts';
import { emptySafetensors } from '../../fine-tuning/testing/test-run.ts';
import { importFolder } from './import-folder.ts';
import { removeImport } from './remove-import.ts';

const server = await testServer();
const { get, download, storedFiles } = assetCalls(server);
const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];

type Files = Record<string, string | Buffer>;

/** Creates a folder on the same file system as the stored files. */
async function folderOf(name: string, files: Files): Promise<string> {
  const folder = path.join(server.services.config.dataDir, 'imports', name);
  for (const [at, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, at)), { recursive: true });
    await writeFile(path.join(folder, at), content);
  }
  return folder;
}

const llama: Files = {
  'config.json': '{"model_type":"llama"}',
  'model.safetensors': emptySafetensors(),
  'nested/tokenizer.json': '{}',
  '.git/HEAD': 'ref',
  'empty.txt': '',
};

test("imports a folder as a user's model and links its files; only a changed folder makes a new revision", async () => {
  const folder = await folderOf('Crumb 1B', llama);
  await symlink(path.join(folder, 'nested/tokenizer.json'), path.join(folder, 'linked.json'));
  const seen: string[] = [];
  const input = { folder, title: 'Crumb 1B', userId: ada.userId };
  const first = await importFolder(server.services, {
    ...input,
    onFile: ({ path: file, isLinked, at, of }) => seen.push(`${at}/${of} ${file} ${isLinked}`),
  });
  expect(seen).toEqual([
    '1/4 config.json true',
    '2/4 linked.json true',
    '3/4 model.safetensors true',
    '4/4 nested/tokenizer.json true',
  ]);
  expect(first).toMatchObject({
    datasetType: 'MODEL',
    isNew: true,
    files: 4,
    leftOut: ['.git', 'empty.txt'],
  });
  expect(first.linkedBytes).toBe(first.sizeBytes);
  const asset = await get(ada, first.assetId);
  expect(asset).toMatchObject({ title: 'Crumb 1B', family: 'llama', file_count: 4 });
  expect(await (await download(ada, first.assetId, 'config.json')).text()).toBe(llama['config.json']);
  expect((await stat(path.join(folder, 'model.safetensors'))).nlink).toBe(2);
  const stored = await storedFiles();

  const again = await importFolder(server.services, input);
  expect(again).toMatchObject({ assetId: first.assetId, isNew: false });
  // The download above is counted asynchronously.
  expect(await get(ada, first.assetId)).toEqual({ ...asset, downloads: expect.any(Number) });
  expect(await storedFiles()).toEqual(stored);

  // Uses a new file, because the first one is hard-linked to the stored blob.
  const changed = await folderOf('another', { ...llama, 'config.json': '{"model_type":"qwen3"}' });
  const second = await importFolder(server.services, { ...input, folder: changed });
  expect(second).toMatchObject({ assetId: first.assetId, isNew: true });
  expect((await get(ada, first.assetId)).files.map((file) => file.path)).toEqual([
    'config.json',
    'model.safetensors',
    'nested/tokenizer.json',
  ]);
});

test('imports a folder as an immutable model or dataset for every user', async () => {
  const index = JSON.stringify({ _class_name: 'FluxKontextPipeline' });
  const folder = await folderOf('painter', {
    'model_index.json': index,
    'vae/model.safetensors': emptySafetensors(),
  });
  const model = await importFolder(server.services, { folder, title: 'The Painter', userId: null });
  const data = await folderOf('rows', { 'rows.csv': 'a,b\n1,2\n' });
  const dataset = await importFolder(server.services, { folder: data, title: 'Rows', userId: null });
  expect(dataset.datasetType).toBe('RAW');
  expect(await importFolder(server.services, { folder: data, title: 'Rows', userId: null })).toMatchObject({
    assetId: dataset.assetId,
    isNew: false,
  });
  for (const user of [ada, bob]) {
    expect(await get(user, model.assetId)).toMatchObject({
      is_starter: true,
      starter_task: 'image',
      family: 'flux-kontext',
    });
    expect(await get(user, dataset.assetId)).toMatchObject({ is_starter: true, starter_task: null });
  }
  const query = { types: 'RAW', owner: bob.userId, include_starter: 'true' } as const;
  const { datasets } = await server.request(listAssets, { query }, { as: bob });
  expect(datasets.map(({ title }) => title)).toContain('Rows');
  // The last one is the title of a dataset.
  for (const title of ['SmolLM2 135M Instruct', '!!!', 'rows']) {
    const refused = importFolder(server.services, { folder, title, userId: null });
    await expect(refused, title).rejects.toMatchObject({ code: 'conflict' });
  }
});

test('refuses by name the files that uploads refuse, and stores none', async () => {
  const before = await storedFiles();
  const refuse = async (name: string, files: Files, message: string) => {
    const folder = await folderOf(name, files);
    const importing = importFolder(server.services, { folder, title: name, userId: ada.userId });
    await expect(importing).rejects.toMatchObject({ publicMessage: expect.stringContaining(message) });
  };
  await refuse('broken', { ...llama, 'b.safetensors': 'x' }, 'b.safetensors is damaged');
  await refuse('strange', { 'a\\b.csv': 'x' }, 'no \\');
  await refuse('hidden', { '.cache/x': 'x' }, 'There are no files in');
  expect(await storedFiles()).toEqual(before);
});

test('the import command requires an owner and detects the type', async () => {
  const folder = await folderOf('facts', { 'facts.csv': 'q,a\nwhy,because\n' });
  const { dataDir } = server.services.config;
  const program = path.resolve(import.meta.dirname, '../../../../../scripts/bakehouse.ts');
  const call = async (...words: string[]) =>
    promisify(execFile)(process.execPath, [program, 'import', ...words, '--data-dir', dataDir], {
      env: { ...process.env, DATABASE_URL: server.databaseUrl },
    });
  const { stdout } = await call(folder, '--user', ada.email, '--title', 'Facts');
  expect(stdout).toContain('  1/1 facts.csv, 16 Bytes, linked\n');
  expect(stdout).toMatch(/^Imported the dataset 'Facts': 1 file of 16 Bytes/m);
  const { datasets } = await server.request(listAssets, { query: { owner: ada.userId } }, { as: ada });
  expect(datasets.find(({ title }) => title === 'Facts')).toMatchObject({ file_count: 1 });
  expect((await call(folder, '--user', ada.email, '--title', 'Facts')).stdout).toContain('No changes in');
  await expect(call(folder, '--user', 'nobody')).rejects.toThrow('There is no user nobody');
  await expect(call(folder)).rejects.toThrow('Usage: ./bakehouse import FOLDER (--user NAME | --everybody)');
  await expect(call(path.join(folder, 'none'), '--everybody')).rejects.toThrow('There is no folder');
});

/** Inserts one of the program's own starter models. */
async function insertOwnStarter(): Promise<void> {
  await server.services.db
    .insertInto('assets')
    .values({
      ...{ starter_slug: 'smollm2-135m-instruct', starter_task: 'text', is_starter: true },
      ...{ dataset_type: 'MODEL', title: 'Own', details: '', category: '', tags: [] },
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

test('removes an unused shared asset by title; its name and its bytes become free', async () => {
  const { db } = server.services;
  const remove = (name: string) =>
    removeImport(db, { name, findUses: [findTrainingUse, findDeploymentUse] }).then(
      (gone) => gone.title,
      (error: AppError) => error.publicMessage,
    );
  const folder = await folderOf('kept', {
    'config.json': '{"model_type":"llama"}',
    'model.safetensors': emptySafetensors(),
  });
  const input = { folder, title: 'Kept a While', userId: null };
  const { assetId } = await importFolder(server.services, input);
  expect(await remove('Nowhere')).toMatch(/^No shared model or dataset is named 'Nowhere'/);
  expect(await remove('Crumb 1B')).toMatch(/^No shared model or dataset/);
  await insertOwnStarter();
  expect(await remove('smollm2-135m-instruct')).toBe("'Own' is part of Bakehouse and cannot be removed");

  const tuned = await insertModel(server.services, ada, 'Tuned', { 'adapter_config.json': '{}' });
  await db
    .insertInto('asset_lineage')
    .values({
      ...{ asset_id: tuned.assetId, run_id: crypto.randomUUID(), base_title: 'Kept', dataset_title: 'Facts' },
      ...{ base_asset_id: assetId, base_revision_id: crypto.randomUUID() },
      ...{ dataset_asset_id: assetId, dataset_revision_id: crypto.randomUUID() },
    })
    .execute();
  expect(await remove('kept a while')).toBe(
    'A model of another user was fine-tuned from it, and cannot work without it.',
  );
  await db.deleteFrom('asset_lineage').where('asset_id', '=', tuned.assetId).execute();
  await db
    .insertInto('model_servers')
    .values({
      ...{ kind: 'vllm', engine: 'transformers', files_sha256: '', base_files: '[]', accelerator_count: 0 },
      context_tokens: 8192,
      ...{ starter_asset_id: assetId, starter_name: 'kept-a-while', starter_requested_at: new Date() },
    })
    .execute();
  expect(await remove('kept a while')).toMatch(/^It is in use without a deployment/);
  await db.updateTable('model_servers').set({ starter_requested_at: null }).execute();

  expect(await remove('kept a while')).toBe('Kept a While');
  await expect(get(bob, assetId)).rejects.toMatchObject({ status: 404 });
  const owners = await db
    .selectFrom('blob_owners')
    .select('sha256')
    .where('owner_kind', '=', 'starter')
    .execute();
  const own = await db.selectFrom('asset_files').select('sha256').where('asset_id', '=', assetId).execute();
  expect([own, owners.length > 0]).toEqual([[], true]);
  expect(await importFolder(server.services, input)).toMatchObject({ isNew: true });
  const program = path.resolve(import.meta.dirname, '../../../../../scripts/bakehouse.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, 'import', '--remove', 'Kept a While', '--data-dir', server.services.config.dataDir],
    { env: { ...process.env, DATABASE_URL: server.databaseUrl } },
  );
  expect(stdout).toContain("Removed the model 'Kept a While'.");
});
