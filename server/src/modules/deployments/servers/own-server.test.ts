import { Readable } from 'node:stream';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { createRevisionFromBlobs } from '../../assets/revisions/add-revision.ts';
import { insertFineTune, insertModel } from '../testing/test-models.ts';

const ADAPTER = { 'adapter_config.json': '{"r":8}', 'adapter_model.safetensors': 'tensors of somebody' };
const patiently = { interval: 50 };

let serving: TestServing;
let user: TestUser;
let base: { assetId: string; revisionId: string };

beforeAll(async () => {
  serving = await testServing();
});

beforeEach(async () => {
  serving.stub.brokenAdapter = null;
  user = await serving.server.signUp();
  const files = { 'model.gguf': `weights of ${user.userId}`, 'config.json': '{"model_type":"llama"}' };
  base = await insertModel(serving.server.services, user, 'A Base', files);
});

/** Returns the specification of the running workload that has loaded the adapter. */
function specOf(revisionId: string) {
  const specs = serving.driver.running().map(({ spec }) => spec);
  return specs.find((spec) => 'adapters' in spec && spec.adapters.some(({ name }) => name === revisionId));
}

it('loads an uploaded safetensors adapter into a separate process', async () => {
  const { server, deploy, untilRunning, terminate } = serving;
  const trained = await deploy(user, await insertFineTune(server.services, base, user, 'Trained Here'));
  await untilRunning(user, trained);
  const uploaded = await insertModel(server.services, user, 'Uploaded', ADAPTER, base.assetId);
  const podId = await deploy(user, uploaded.assetId);
  await untilRunning(user, podId);
  const own = specOf(uploaded.revisionId);
  expect(own).toMatchObject({ model_file: 'model.gguf', adapters: [{ file: '', rank: 8 }] });
  const files = own?.inputs.map((input) => input.files.map((file) => file.path));
  expect(files).toEqual([
    ['config.json', 'model.gguf'],
    ['adapter_config.json', 'adapter_model.safetensors'],
  ]);
  expect(serving.driver.running()).toHaveLength(2);
  expect((await serving.ask(user, 'uploaded')).status).toBe(200);
  await terminate(user, podId);
  await terminate(user, trained);
});

it('counts a trained adapter as untrusted after one of its files was replaced', async () => {
  const { server } = serving;
  const model = await insertFineTune(server.services, base, user, 'Swapped Sourdough');
  const foreign = { 'adapter.gguf': 'GGUF of somebody' };
  await replaceFiles(model, foreign);
  await expect(serving.deploy(user, model)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('adapter.gguf is not the one that its training made'),
  });
  const revisionId = await replaceFiles(model, { ...foreign, ...ADAPTER });
  const podId = await serving.deploy(user, model);
  await serving.untilRunning(user, podId);
  expect(specOf(revisionId)).toMatchObject({ adapters: [{ file: '' }] });
  await serving.terminate(user, podId);
});

it('if an uploaded adapter cannot be loaded, only its own deployment ends', async () => {
  const { server, stub, driver, clock } = serving;
  const good = await serving.deploy(user, await insertFineTune(server.services, base, user, 'Good Loaf'));
  await serving.untilRunning(user, good);
  // Wait until the model server of the previous test has ended.
  await vi.waitFor(() => expect(driver.running()).toHaveLength(1), patiently);
  const before = driver.running().map(({ workloadId }) => workloadId);
  const bad = await insertModel(server.services, user, 'Bad Loaf', ADAPTER, base.assetId);
  stub.brokenAdapter = bad.revisionId;
  const broken = await serving.deploy(user, bad.assetId);
  await vi.waitFor(async () => {
    clock.advance({ minutes: 1 });
    await server.app.engine.pass();
    expect((await serving.status(user, broken)).status).toBe('failed');
  }, patiently);
  expect((await serving.status(user, good)).status).toBe('running');
  expect(driver.running().map(({ workloadId }) => workloadId)).toEqual(before);
  await serving.terminate(user, good);
});

it('rejects an uploaded adapter whose base is unknown', async () => {
  const { assetId } = await insertModel(serving.server.services, user, 'Orphan', ADAPTER);
  await expect(serving.deploy(user, assetId)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('parent_dataset_id'),
  });
});

it('rejects an uploaded adapter if the family of its base is unknown', async () => {
  const bare = await insertModel(serving.server.services, user, 'Bare', { 'model.gguf': 'weights' });
  const { assetId } = await insertModel(serving.server.services, user, 'Uploaded', ADAPTER, bare.assetId);
  await expect(serving.deploy(user, assetId)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('Bare has no config.json'),
  });
});

/** Creates a revision of the model with these files replaced. Returns the revision's id. */
async function replaceFiles(assetId: string, content: Record<string, string>): Promise<string> {
  const { services } = serving.server;
  const { files } = await readRevision(services.db, { assetId, userId: user.userId });
  const replaced = await Promise.all(
    Object.entries(content).map(async ([path, text]) => ({
      path,
      ...(await storeBlob(services, Readable.from([text]))),
    })),
  );
  const kept = files.filter(({ path }) => !(path in content));
  const { revisionId } = await inTransaction(services.db, (tx) =>
    createRevisionFromBlobs(tx, { assetId, files: [...kept, ...replaced] }),
  );
  return revisionId;
}
