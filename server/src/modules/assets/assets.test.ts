import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { getMe } from '@bakehouse/contract/accounts';
import * as contract from '@bakehouse/contract/assets';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { readLineage, recordLineage } from './lineage.ts';
import { readRevision } from './read-revision.ts';
import { deleteAsset } from './remove-asset.ts';
import { createRevisionFromBlobs } from './revisions/add-revision.ts';
import { assetCalls, refusalOf, sha256 } from './testing/asset-calls.ts';

const clock = fakeClock();
const server = await testServer({ clock });
const { contextOf, create, upload, get, download, storedFiles } = assetCalls(server);

let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

describe('creating', () => {
  test('returns the id, stores every field and completes the onboarding step', async () => {
    const id = await create(ada, {
      category: 'Art',
      details: 'What we know',
      tags: ['a', 'b'],
      price: '1.5',
      embedding_model: 'minilm',
      dimensions: 384,
      is_published: true,
    });
    const asset = await get(ada, id);
    expect(asset).toMatchObject({
      dataset_id: id,
      dataset_type: 'RAW',
      title: 'Facts',
      category: 'Art',
      details: 'What we know',
      tags: ['a', 'b'],
      price: '1.5',
      embedding_model: 'minilm',
      dimensions: 384,
      is_published: true,
      user_id: ada.userId,
      owner_username: 'ada-1',
      is_starter: false,
      starter_task: null,
      revision_id: null,
      file_count: 0,
      files: [],
      card: null,
      lineage: null,
    });
    const me = await server.request(getMe, {}, { as: ada });
    expect(me.onboarding.steps).toMatchObject({
      create_dataset: { completed: true },
      create_model: { completed: false },
    });
  });

  test('stores the parent, base model type and IPFS choice of a model', async () => {
    const parent_dataset_id = await create(ada);
    const base_model_type = 'qwen';
    const kept = { base_model_type, parent_dataset_id, use_ipfs: true };
    const model = { dataset_type: 'MODEL', title: 'Derived', ...kept } as const;
    expect(await get(ada, await create(ada, model))).toMatchObject({
      base_model_type,
      parent_dataset_id,
      use_ipfs: true,
    });
  });

  test('a new dataset is free and unpublished, and has no dimensions', async () => {
    const fresh = await get(ada, await create(ada));
    expect(fresh).toMatchObject({ price: '0', is_published: false, use_ipfs: false, dimensions: 0 });
  });

  test('creates another asset for the same title, but not for the same Idempotency-Key', async () => {
    const [first, second] = [await create(ada, { title: 'Twice' }), await create(ada, { title: 'Twice' })];
    expect(first).not.toBe(second);
    const key = randomBytes(8).toString('hex');
    const [one, same] = await Promise.all([create(ada, {}, key), create(ada, {}, key)]);
    expect(one).toBe(same);
    await expect(create(ada, { title: 'Other' }, key)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  test('rejects a parent that the user may not read', async () => {
    const secret = await create(bob);
    await expect(create(ada, { parent_dataset_id: secret })).rejects.toMatchObject({
      code: 'not_found',
      param: 'parent_dataset_id',
    });
    expect((await get(ada, await create(ada, { parent_dataset_id: '' }))).parent_dataset_id).toBeNull();
  });
});

test('notifies the owner, and no other user, of every change', async () => {
  const [eve, fay] = [await server.signUp('Eve'), await server.signUp('Fay')];
  const heard: string[] = [];
  const stop = [eve, fay].map((user) =>
    server.services.events.subscribe(user.userId, (event) => {
      // The credits of a new account may still be announced.
      if (event.topic === 'asset') heard.push(`${user === eve ? 'eve' : 'fay'} ${event.id}`);
    }),
  );
  const hears = async (change: Promise<unknown>) => {
    const before = heard.length;
    const answer = await change;
    await expect.poll(() => heard.length).toBeGreaterThan(before);
    return answer;
  };
  const id = (await hears(create(eve))) as string;
  await hears(upload(eve, id, 'a.txt', 'x'));
  await hears(
    server.request(contract.updateAsset, { params: { id }, body: { title: 'Other' } }, { as: eve }),
  );
  await hears(server.send(contract.deleteAsset, { params: { id } }, { as: eve }));
  expect(new Set(heard)).toEqual(new Set([`eve ${id}`]));
  for (const end of stop) end();
});

describe('changing and deleting', () => {
  test('changes the description, with the naming rule for models', async () => {
    const id = await create(ada, { dataset_type: 'MODEL', title: 'Model one' });
    const update = (body: object) =>
      server.request(contract.updateAsset, { params: { id }, body }, { as: ada });
    expect(await update({ details: 'New words', tags: ['t'] })).toMatchObject({
      title: 'Model one',
      details: 'New words',
      tags: ['t'],
    });
    await expect(update({ title: 'abc' })).rejects.toThrow('Model name must have at least 4 characters');
  });

  test('removes one file in a new revision', async () => {
    const id = await create(ada);
    const { revision_id: before } = (await (await upload(ada, id, 'a.txt', 'one')).json()) as {
      revision_id: string;
    };
    const remove = (file_path: string) =>
      server.request(contract.deleteFile, { params: { id }, body: { file_path } }, { as: ada });
    expect((await remove('a.txt')).revision_id).not.toBe(before);
    expect(await get(ada, id)).toMatchObject({ files: [], file_count: 0, size_bytes: 0 });
    expect(await (await download(ada, id, 'a.txt', {}, { revision_id: before })).text()).toBe('one');
    await expect(remove('a.txt')).rejects.toMatchObject({ status: 404 });
    await expect(remove('')).rejects.toThrow('Missing required parameters for file deletion');
    const url = `${server.url}/api/v1/asset/${id}/file`;
    const bare = await fetch(url, { method: 'DELETE', headers: { 'x-api-key': ada.apiKey } });
    expect(await bare.json()).toMatchObject({
      error: { message: 'Missing required parameters for file deletion', param: 'file_path' },
    });
  });

  test('deletes the bytes of a deleted asset, except bytes that another asset uses', async () => {
    const [first, second] = [await create(ada), await create(ada)];
    const [own, shared] = [randomBytes(20).toString('hex'), randomBytes(20).toString('hex')];
    await upload(ada, first, 'own.txt', own);
    await upload(ada, first, 'shared.txt', shared);
    await upload(ada, second, 'shared.txt', shared);
    expect((await server.send(contract.deleteAsset, { params: { id: first } }, { as: ada })).status).toBe(
      204,
    );
    await expect(get(ada, first)).rejects.toMatchObject({ status: 404 });

    const collect = () => collectBlobsJob.run(server.services, {}, AbortSignal.timeout(10_000));
    await collect();
    expect(await storedFiles()).toContain(sha256(own).slice(2));
    clock.advance({ hours: 2 });
    await collect();
    expect(await storedFiles()).not.toContain(sha256(own).slice(2));
    expect(await (await download(ada, second, 'shared.txt')).text()).toBe(shared);
    expect((await upload(ada, second, 'own.txt', own)).status).toBe(200);
    expect(await (await download(ada, second, 'own.txt')).text()).toBe(own);
  });

  test('does not delete an asset in use', async () => {
    const id = await create(ada);
    const findUses = [async () => 'The run Facts uses this dataset'];
    await expect(deleteAsset(contextOf(ada), { assetId: id, findUses })).rejects.toMatchObject({
      code: 'conflict',
      message: 'The run Facts uses this dataset',
    });
    expect((await get(ada, id)).dataset_id).toBe(id);
  });
});

test('reports what an uploaded model can be used for, and which files it lacks', async () => {
  const id = await create(ada, { dataset_type: 'MODEL', title: 'Uploaded' });
  const readiness = () => server.request(contract.getModelReadiness, { params: { id } }, { as: ada });
  expect(await readiness()).toEqual({
    deploy: 'Uploaded has no files yet',
    train: 'Uploaded has no files yet',
    lora: false,
  });
  await upload(ada, id, 'letter.docx', 'PK\x03\x04text');
  expect(await readiness()).toEqual({
    deploy: 'Uploaded has no GGUF file, so it cannot be served here',
    train: 'Uploaded has no safetensors weights to train on',
    lora: false,
  });
  const header = '{"__metadata__":{}}';
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await upload(ada, id, 'model.safetensors', Buffer.concat([length, Buffer.from(header)]));
  expect((await readiness()).train).toBe('Uploaded has no config.json, which describes its architecture');
  await upload(ada, id, 'config.json', '{}');
  // Training and vLLM support no other tokenizer.
  await upload(ada, id, 'vocab.json', '{}');
  expect((await readiness()).train).toMatch(/^Uploaded has no tokenizer\.json\. AutoTokenizer\./);
  await upload(ada, id, 'tokenizer.json', '{}');
  const empty = Buffer.alloc(24);
  empty.write('GGUF');
  empty.writeUInt32LE(3, 4);
  await upload(ada, id, 'model.gguf', empty);
  expect(await readiness()).toEqual({ deploy: null, train: null, lora: false });
  const dataset = await create(ada);
  expect(await server.request(contract.getModelReadiness, { params: { id: dataset } }, { as: ada })).toEqual({
    deploy: 'Facts is a dataset',
    train: 'Facts is a dataset',
    lora: false,
  });
  const lora = await create(ada, { dataset_type: 'MODEL', title: 'Watercolour' });
  await upload(ada, lora, 'pytorch_lora_weights.safetensors', Buffer.concat([length, Buffer.from(header)]));
  const ofLora = { params: { id: lora } };
  expect(await server.request(contract.getModelReadiness, ofLora, { as: ada })).toMatchObject({ lora: true });
  const scorer = await create(ada, { dataset_type: 'MODEL', title: 'Taste' });
  await upload(ada, scorer, 'adapter_config.json', '{"r":8,"task_type":"SEQ_CLS"}');
  const scores = 'Taste scores text but cannot generate it';
  const ofScorer = { params: { id: scorer } };
  expect(await server.request(contract.getModelReadiness, ofScorer, { as: ada })).toEqual({
    ...{ deploy: scores, train: scores, lora: false },
  });
});

test('changes price and publication, and rejects invalid values by field', async () => {
  const id = await create(ada);
  const update = (body: object) =>
    server.request(contract.updateAsset, { params: { id }, body }, { as: ada });
  const changed = await update({ price: '2.5', is_published: true, user_id: ada.userId });
  expect(changed).toMatchObject({ price: '2.5', is_published: true, title: 'Facts' });
  await expect(update({ title: 'Other', dimensions: 3, embedding_model: 'x' })).rejects.toThrow(
    'These cannot be changed: dimensions, embedding_model',
  );
  expect((await get(ada, id)).title).toBe('Facts');
});

test('returns the card, a folder and the size of an asset', async () => {
  const id = await create(ada, { dataset_type: 'MODEL', title: 'With a card' });
  const store = (content: string) => storeBlob(server.services, Readable.from([Buffer.from(content)]));
  const files = [
    { path: 'README.md', ...(await store('# Card ✓')) },
    { path: 'adapter/config.json', ...(await store('{}')) },
    { path: 'adapter/model.bin', ...(await store('weights')) },
  ];
  const create1 = () =>
    server.services.db.transaction().execute((tx) => createRevisionFromBlobs(tx, { assetId: id, files }));
  const { revisionId } = await create1();
  expect(await create1()).toEqual({ revisionId });
  // A run's result leaves other files of the asset in place, e.g. files that the owner added during the run.
  const paths = async () => (await get(ada, id)).files.map((file) => file.path);
  const made = [
    { path: 'README.md', ...(await store('# Card of a run')) },
    { path: 'adapter/config.json', ...(await store('{"r":8}')) },
  ];
  await server.services.db
    .transaction()
    .execute((tx) => createRevisionFromBlobs(tx, { assetId: id, files: made, keepsOthers: true }));
  expect(await paths()).toEqual(files.map((file) => file.path));
  expect(await (await download(ada, id, 'adapter/config.json')).text()).toBe('{"r":8}');
  expect((await get(ada, id)).card).toBe('# Card ✓');
  const info = (query: object) => server.request(contract.assetInfo, { params: { id }, query }, { as: ada });
  expect((await info({ path: '/adapter/' })).files.map((file) => file.path)).toEqual([
    'adapter/config.json',
    'adapter/model.bin',
  ]);
  expect(await info({})).toMatchObject({ path: '', size_bytes: 10 + 7 + 7 });
  expect((await info({ path: 'README.md' })).files).toHaveLength(1);
  await expect(info({ path: 'adapt' })).rejects.toMatchObject({ status: 404 });

  const next = await server.services.db
    .transaction()
    .execute((tx) => createRevisionFromBlobs(tx, { assetId: id, files: files.slice(0, 2) }));
  expect(next.revisionId).not.toBe(revisionId);
  expect(await paths()).toEqual(['README.md', 'adapter/config.json']);
  const stray = { assetId: id, files: [{ path: '../x', sha256: sha256(''), sizeBytes: 0 }] };
  await expect(
    server.services.db.transaction().execute((tx) => createRevisionFromBlobs(tx, stray)),
  ).rejects.toThrow('Not a path');
  const unknown = { assetId: id, files: [{ path: 'x', sha256: sha256('never stored'), sizeBytes: 12 }] };
  await expect(
    server.services.db.transaction().execute((tx) => createRevisionFromBlobs(tx, unknown)),
  ).rejects.toThrow('The blob store does not hold');
});

test('stores lineage with the titles at that time', async () => {
  const [model, base, data] = [
    await create(ada, { dataset_type: 'MODEL', title: 'Tuned' }),
    await create(ada),
    await create(ada),
  ];
  const source = (assetId: string, title: string) => ({
    assetId,
    revisionId: '019aa000-0000-7000-8000-000000000001',
    title,
  });
  const lineage = {
    assetId: model,
    runId: '019aa000-0000-7000-8000-000000000000',
    base: source(base, 'Base'),
    dataset: source(data, 'Data'),
  };
  await server.services.db.transaction().execute((tx) => recordLineage(tx, lineage));
  expect((await get(ada, model)).lineage).toMatchObject({
    run_id: lineage.runId,
    base_model: { dataset_id: base, title: 'Base' },
    dataset: { dataset_id: data, title: 'Data' },
  });
  expect(await readLineage(server.services.db, { assetId: base })).toBeNull();
});

test('hides an asset from other users in every call', async () => {
  const id = await create(ada);
  await upload(ada, id, 'a.csv', 'a,b\n1,2\n');
  const params = { id };
  const attempts = [
    server.send(contract.getAsset, { params }, { as: bob }),
    server.send(contract.updateAsset, { params, body: { title: 'Mine now' } }, { as: bob }),
    server.send(contract.deleteAsset, { params }, { as: bob }),
    server.send(contract.downloadFile, { params: { id, '*': 'a.csv' }, query: {} }, { as: bob }),
    server.send(contract.deleteFile, { params, body: { file_path: 'a.csv' } }, { as: bob }),
    server.send(contract.assetInfo, { params, query: {} }, { as: bob }),
    server.send(contract.previewFile, { params, query: { path: 'a.csv' } }, { as: bob }),
    upload(bob, id, 'a.csv', 'mine'),
  ];
  const absent = await server.send(
    contract.getAsset,
    { params: { id: '019aa000-0000-7000-8000-000000000002' } },
    { as: bob },
  );
  const { message } = await refusalOf(absent);
  for (const response of await Promise.all(attempts)) {
    expect(await refusalOf(response)).toEqual({ status: 404, code: 'not_found', message });
  }
  await expect(
    server.request(contract.listAssets, { query: { types: 'RAW', owner: ada.userId } }, { as: bob }),
  ).rejects.toMatchObject({ status: 403 });
  await expect(readRevision(server.services.db, { assetId: id, userId: bob.userId })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect((await get(ada, id)).title).toBe('Facts');
});

test('the stored totals of each asset equal the sums over its files', async () => {
  const { rows } = await sql<{ id: string }>`
    select a.id from assets a left join asset_files f on f.asset_id = a.id and f.last_number is null
    group by a.id having a.file_count <> count(f.path) or a.size_bytes <> coalesce(sum(f.size_bytes), 0)`.execute(
    server.services.db,
  );
  expect(rows).toEqual([]);
});
