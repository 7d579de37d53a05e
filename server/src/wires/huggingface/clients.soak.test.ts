import path from 'node:path';
import { saveRestrictedModel } from '@bakehouse/contract/restricted-models';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { starterModelDir } from '../../engine/host/preparation/starter-model.ts';
import { assetCalls } from '../../modules/assets/testing/asset-calls.ts';
import { insertModel } from '../../modules/deployments/testing/test-models.ts';
import { registerStarterModel } from '../../modules/models/starter/register-starters.ts';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { testServer } from '../../testing/test-server.ts';
import { hubCalls } from './testing/hub-calls.ts';
import { runClients } from './testing/run-clients.ts';

// All tests run in one process, because importing the libraries takes longer than the tests.
test('the hub’s Python clients can read and write here without changes', {
  timeout: 1_800_000,
}, async () => {
  const server = await testServer();
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
  const names = ['config', 'tokenizer', 'tokenizer_config', 'generation_config'].map(
    (name) => `${name}.json`,
  );
  const files = [...names, 'model.safetensors'];
  const folder = await starterModelDir(readConfig(process.env));
  await registerStarterModel(server.services, {
    slug: 'starter',
    task: 'text',
    title: 'Starter',
    details: '',
    category: '',
    tags: [],
    files: files.map((name) => ({ path: name, localPath: path.join(folder, name) })),
  });

  const env = {
    TEST_DATASET: 'ada/Facts',
    TEST_GATED: 'ovens/closed',
    TEST_STARTER: 'bakehouse/starter',
  };
  const { code, output } = await runClients(server, {
    files: ['test_reading.py', 'test_writing.py'],
    user: ada,
    env,
  });
  expect(code, output).toBe(0);
});
