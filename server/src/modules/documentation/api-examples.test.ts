import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { getMe } from '@bakehouse/contract/accounts';
import { listAssets } from '@bakehouse/contract/assets';
import { listVllm } from '@bakehouse/contract/deployments/text';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import { listRuns } from '@bakehouse/contract/runs';
import { expect, test, vi } from 'vitest';
import { createFakeDriver } from '../../engine/drivers/fake/fake-driver.ts';
import type { Services } from '../../platform/context.ts';
import { realPython } from '../../testing/real-python.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testServer } from '../../testing/test-server.ts';
import { CPU_SERVERS } from '../deployments/servers/limits/server-limits.ts';
import { stubModelServer } from '../deployments/testing/stub-model-server.ts';
import { emptyGguf, emptySafetensors, goodData } from '../fine-tuning/testing/test-run.ts';
import { registerStarterModel } from '../models/starter/register-starters.ts';
import { starterEmbeddingModel } from '../models/starter/starters.ts';

const DOCUMENT = path.resolve(import.meta.dirname, '../../../../docs/api.md');

const textModel = {
  'config.json': Buffer.from('{}'),
  'model.safetensors': emptySafetensors(),
  'gguf/model-f16.gguf': emptyGguf(),
};

const embeddingModel = {
  'modules.json': Buffer.from('[{"type": "m.Transformer", "path": ""}]'),
  'config.json': Buffer.from('{"model_type": "bert"}'),
  'tokenizer.json': Buffer.from('{}'),
  'model.safetensors': emptySafetensors(),
};

/** Inserts a starter model. Its files are invalid, because no test reads them. */
async function insertStarter(
  services: Services,
  task: 'text' | 'embedding' | 'image',
  contents: Record<string, Buffer>,
  slug = task === 'embedding' ? starterEmbeddingModel.slug : `starter-${task}`,
): Promise<void> {
  const folder = await temporaryFolder();
  const files = await Promise.all(
    Object.entries(contents).map(async ([name, bytes]) => {
      const localPath = path.join(folder, path.basename(name));
      await writeFile(localPath, bytes);
      return { path: name, localPath };
    }),
  );
  const words = { title: 'Starter Model', details: '', category: '', tags: [] };
  await registerStarterModel(services, { slug, task, ...words, files });
}

/**
 * Waits for the first upload, then adds the starters in arbitrary order, as the first start of a server does.
 */
async function insertStartersLater(services: Services): Promise<void> {
  const isAtWork = async () => {
    const uploaded = await services.db
      .selectFrom('assets')
      .select('id')
      .where('title', '=', 'Questions')
      .execute();
    expect(uploaded).toHaveLength(1);
  };
  await vi.waitFor(isAtWork);
  await insertStarter(services, 'image', { 'model_index.json': Buffer.from('{}') });
  await insertStarter(services, 'embedding', embeddingModel);
  await insertStarter(services, 'text', textModel);
  await insertStarter(services, 'image', { 'model_index.json': Buffer.from('{"a": 1}') });
  await insertStarter(services, 'image', { 'model_index.json': Buffer.from('{"b": 1}') }, WAN_STARTER);
}

test('the examples of docs/api.md work when run in order in one shell', async () => {
  const stub = stubModelServer();
  stub.says = () => '{"name": "oven", "arguments": {"city": "Paris"}}';
  const driver = createFakeDriver({ capacity: { 'cpu:deployment': CPU_SERVERS }, script: stub.script });
  const roles = ['web' as const, 'worker' as const, 'reconciler' as const];
  const server = await testServer({ config: realPython, driver, roles, readData: async () => goodData });
  const starters = insertStartersLater(server.services);
  const blocks = [...(await readFile(DOCUMENT, 'utf8')).matchAll(/```sh\n(.*?)```/gs)].map(
    ([, code]) => code,
  );
  const script = ['set -eux', `BASE=${server.url}`, ...blocks, 'echo', 'echo "key=$KEY"'].join('\n');
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { cwd: await temporaryFolder() });
  await starters;

  const apiKey = /key=(\S+)$/.exec(stdout.trim())?.[1] ?? '';
  const as = { apiKey };
  const { id: owner } = await server.request(getMe, {}, { as });
  const { datasets } = await server.request(listAssets, { query: { owner } }, { as });
  const titles = datasets.map(({ title, dataset_type: type }) => `${type} ${title}`);
  // The batch may have results by now.
  expect(titles.filter((title) => !title.endsWith('_output.jsonl'))).toEqual([
    'RAW requests.jsonl',
    'MODEL Starter Model bakery',
    'RAW held.jsonl',
    'RAW chats.jsonl',
    'MODEL Baker',
    'RAW Questions',
  ]);
  const { runs } = await server.request(listRuns, { query: {} }, { as });
  expect(runs).toMatchObject([{ title: 'Starter Model bakery' }, { title: 'Baker' }]);
  const { pods } = await server.request(
    listVllm,
    { params: { userId: owner }, query: { include_terminated: 'true' } },
    { as },
  );
  expect(pods).toHaveLength(1);
  expect(stdout).toContain('"name":"oven","arguments":"{\\"city\\": \\"Paris\\"}"');
  expect(stdout).toMatch(/"id":"video_[0-9a-f]{32}","object":"video","model":"wan-starter"/);
  expect(stdout).toContain('"message":"dataset_type and user_id are required"');
});
