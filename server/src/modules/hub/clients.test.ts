import { existsSync } from 'node:fs';
import path from 'node:path';
import { saveRestrictedModel } from '@bakehouse/contract/restricted-models';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { effort } from '../../testing/soak.ts';
import { testServer } from '../../testing/test-server.ts';
import { assetCalls } from '../assets/testing/asset-calls.ts';
import { insertModel } from '../deployments/testing/test-models.ts';
import { registerStarterModel } from '../models/starter/register-starter-model.ts';
import { cloningServer, safetensors } from './testing/clones.ts';
import { hubCalls } from './testing/hub-calls.ts';
import { openPublicHub } from './testing/public-hub.ts';
import { runClients } from './testing/run-clients.ts';

const STARTER_FILES = path.join(readConfig(process.env).cacheDir, 'models/smollm2-776dbe9b6a8c4762');

test('the hub’s Python clients read what is here, unchanged', { timeout: 300_000 }, async () => {
  const rye = { 'config.json': '{"model_type":"llama"}', 'nested/model.safetensors': safetensors(20_000) };
  const hub = await openPublicHub([
    { type: 'model', id: 'mills/rye', files: rye },
    { type: 'model', id: 'mills/closed', files: rye, gatedFor: ['somebody'] },
  ]);
  const server = await cloningServer(hub);
  server.services.config.hubMirror = { bytesMax: 1e9, token: null };
  const { create, uploadAt } = assetCalls(server);
  const ada = await hubCalls(server).signUpAs('ada');
  const olga = await signUpOperator(server, 'Olga');
  await sql`
    insert into assets (owner_user_id, dataset_type, title, category, details)
    select ${ada.userId}, 'RAW', 'Crumbs ' || n, '', '' from generate_series(1, 150) n`.execute(
    server.services.db,
  );
  const id = await create(ada, { title: 'Facts', tags: ['rye'] });
  await uploadAt(ada, id, 'README.md', '---\nlicense: mit\n---\n# Facts\n');
  await uploadAt(ada, id, 'data/train.csv', 'a,b\n1,2\n3,4\n');
  await uploadAt(ada, id, 'data/test.csv', 'a,b\n5,6\n');
  const bob = await hubCalls(server).signUpAs('bob');
  const loaves = await create(bob, { title: 'Loaves', is_published: true });
  await uploadAt(bob, loaves, 'rows.csv', 'a,b\n1,2\n');
  await create(bob, { title: 'Secret' });
  const { assetId } = await insertModel(server.services, olga, 'Closed', { 'config.json': '{}' });
  const model = { name: 'Closed', asset_id: assetId };
  await server.request(
    saveRestrictedModel,
    { params: { modelId: 'ovens/closed' }, body: model },
    { as: olga },
  );
  const hasStarter = existsSync(STARTER_FILES);
  const names = [
    'config.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'generation_config.json',
    'model.safetensors',
  ];
  await registerStarterModel(server.services, {
    slug: 'starter',
    task: 'text',
    title: 'Starter',
    details: '',
    category: '',
    tags: [],
    files: hasStarter ? names.map((name) => ({ path: name, localPath: path.join(STARTER_FILES, name) })) : [],
  });

  const env = {
    TEST_DATASET: 'ada/Facts',
    TEST_GATED: 'ovens/closed',
    TEST_MIRRORED: 'mills/rye',
    TEST_GATED_THERE: 'mills/closed',
    TEST_STARTER: 'bakehouse/starter',
    ...(hasStarter && { TEST_STARTER_FILES: '1' }),
  };
  const { code, output } = await runClients(server, { file: 'test_reading.py', user: ada, env });
  expect(code, output).toBe(0);
});

test('the hub’s Python clients write here, unchanged', {
  timeout: effort({ usual: 300_000, soak: 1_800_000 }),
}, async () => {
  const server = await testServer();
  const ada = await hubCalls(server).signUpAs('ada');
  const env = { TEST_LARGE_BYTES: String(effort({ usual: 12_000_000, soak: 300_000_000 })) };
  const byXet = await runClients(server, { file: 'test_writing.py', user: ada, env });
  expect(byXet.code, byXet.output).toBe(0);
});

test('without Xet they send large files by Git LFS', { timeout: 300_000 }, async () => {
  const server = await testServer();
  const ada = await hubCalls(server).signUpAs('ada');
  const env = { HF_HUB_DISABLE_XET: '1', TEST_LARGE_BYTES: '40000000' };
  const { code, output } = await runClients(server, {
    file: 'test_writing.py',
    user: ada,
    env,
    only: 'folder or commit',
  });
  expect(code, output).toBe(0);
});
