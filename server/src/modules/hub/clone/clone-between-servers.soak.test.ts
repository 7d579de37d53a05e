import { randomBytes } from 'node:crypto';
import { getAsset } from '@bakehouse/contract/assets';
import type { Clone } from '@bakehouse/contract/hub/clones';
import { getHubRepository, saveHubToken } from '@bakehouse/contract/hub/public';
import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { hubCalls } from '../../../wires/huggingface/testing/hub-calls.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { cloneCalls, safetensors, testPace } from '../testing/clones.ts';
import { killProcess, startCloningProcess } from '../testing/cloning-processes.ts';
import { createCloneLoop } from './run-clone.ts';

/* One Bakehouse server clones from the hub API of another one, without stubs. */

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const theirs = await testServer();
const ours = await testServer({ config: { hubUrl: `${theirs.url}/hub` } });
const ada = await hubCalls(theirs).signUpAs('ada');
const bob = await ours.signUp('Bob');
const calls = cloneCalls(ours);

const CARD = '---\nlicense: mit\nbase_model: bakery/rye\n---\n# Loaf\n';
const modelFiles: Record<string, string | Uint8Array<ArrayBuffer>> = {
  'README.md': CARD,
  'config.json': '{"model_type":"llama"}',
  'model.safetensors': new Uint8Array(safetensors(50_000)),
  'nested/deep/er/zürich %1.json': '{"a": 1}',
};
const dataFiles: Record<string, string> = {
  'README.md': '---\nlicense: cc-by-4.0\n---\n# Facts\n',
  ...Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [`data/${at % 3}/${at}.csv`, `a,b\n${at},${at}\n`]),
  ),
};

/** Creates a private repository of Ada's with these files; returns its newest commit. */
async function put(
  title: string,
  type: 'MODEL' | 'RAW',
  files: Record<string, string | Uint8Array<ArrayBuffer>>,
) {
  const { create, uploadAt } = assetCalls(theirs);
  const id = await create(ada, { title, dataset_type: type });
  for (const [path, content] of Object.entries(files))
    expect((await uploadAt(ada, id, path, content)).status).toBeLessThan(300);
  return { id, sha: await commitOf(title, type) };
}

async function commitOf(title: string, type: 'MODEL' | 'RAW'): Promise<string> {
  const { read } = hubCalls(theirs);
  const info = await read(`/api/${type === 'MODEL' ? 'models' : 'datasets'}/ada/${title}`, { as: ada });
  return info.sha as string;
}

/** Returns the paths of an asset's files with their hashes. */
async function hashesOf(
  { services: { db } }: TestServer,
  assetId: string | null,
): Promise<Record<string, string>> {
  const rows = await db
    .selectFrom('asset_files')
    .select(['path', 'sha256'])
    .where('asset_id', '=', assetId ?? '')
    .where('last_number', 'is', null)
    .orderBy('path')
    .execute();
  return Object.fromEntries(rows.map(({ path, sha256 }) => [path, sha256]));
}

const saveToken = (user: TestUser, token: string) =>
  ours.request(saveHubToken, { params: { userId: user.userId }, body: { token } }, { as: user });

function startCloning(): () => Promise<void> {
  const loop = createCloneLoop(ours.services, testPace);
  loop.start();
  return onFileEnd(loop.stop);
}

test("a private repository requires its owner's token, and the clone has the commit at which it started", async () => {
  const model = await put('Loaf', 'MODEL', modelFiles);
  const data = await put('Facts', 'RAW', dataFiles);
  await hubCalls(theirs).read('/api/models/ada/Loaf/tag/main', { as: ada, body: { tag: 'v1' } });

  await expect(calls.start(bob, 'ada/Loaf')).rejects.toMatchObject({
    status: 404,
    message: expect.stringContaining('The public hub has no model ada/Loaf that you may read'),
  });
  await expect(saveToken(bob, 'wrong')).rejects.toMatchObject({ status: 400 });
  expect(await saveToken(bob, ada.apiKey)).toMatchObject({ token: { account: 'ada' } });

  const query = { repo_id: 'ada/Loaf', repo_type: 'model', include_file_info: 'true' } as const;
  const details = await ours.request(
    getHubRepository,
    { query: { ...query, user_id: bob.userId } },
    { as: bob },
  );
  expect(details).toMatchObject({
    ...{ revision: model.sha, licence: 'mit', family: 'llama', file_count: 4, obstacle: null, gated: false },
  });

  const started = [await calls.start(bob, 'ada/Loaf'), await calls.start(bob, 'ada/Facts', 'RAW')];
  expect(started.map(({ revision }) => revision)).toEqual([model.sha, data.sha]);
  const before = [await hashesOf(theirs, model.id), await hashesOf(theirs, data.id)];
  // Commits after the start of the clone are not part of it.
  await assetCalls(theirs).uploadAt(ada, model.id, 'config.json', '{"model_type":"qwen3"}');
  await assetCalls(theirs).uploadAt(ada, model.id, 'late.txt', 'late');
  expect(await commitOf('Loaf', 'MODEL')).not.toBe(model.sha);
  const stop = startCloning();
  const done: Clone[] = [];
  for (const { id } of started) done.push(await calls.untilEnded(bob, id));
  await stop();
  expect(done.map(({ status, reason }) => [status, reason])).toEqual([
    ['COMPLETED', ''],
    ['COMPLETED', ''],
  ]);
  expect(await hashesOf(ours, done[0]?.asset_id ?? null)).toEqual(before[0]);
  expect(await hashesOf(ours, done[1]?.asset_id ?? null)).toEqual(before[1]);
  const get = async (at: number) =>
    ours.request(getAsset, { params: { id: done[at]?.asset_id ?? '' } }, { as: bob });
  expect(await get(0)).toMatchObject({
    ...{ title: 'Loaf', family: 'llama', card: CARD, file_count: 4 },
    source: { hub_url: `${theirs.url}/hub`, repo_id: 'ada/Loaf', revision: model.sha },
  });
  expect(await get(1)).toMatchObject({ title: 'Facts', dataset_type: 'RAW', file_count: 31 });
});

test('a clone from another server resumes from its last part after its process is killed', async () => {
  const large = new Uint8Array(randomBytes(96 * 1024 * 1024));
  const data = await put('Large', 'RAW', { 'README.md': '# Large', 'rows.bin': large });
  const max = await ours.signUp('Max');
  await saveToken(max, ada.apiKey);
  const { id } = await calls.start(max, 'ada/Large', 'RAW');
  const first = await startCloningProcess(ours);
  await vi.waitFor(
    async () => {
      const parts = await ours.services.db.selectFrom('upload_parts').select('number').execute();
      expect(parts.length).toBeGreaterThanOrEqual(1);
    },
    { interval: 5 },
  );
  await killProcess(first);
  expect((await calls.status(max, id)).ended_at).toBeNull();
  const stored = await ours.services.db.selectFrom('upload_parts').select('number').execute();
  await sql`update hub_clones set locked_until = now(), check_at = now() where id = ${id}`.execute(
    ours.services.db,
  );
  const second = await startCloningProcess(ours);
  const done = await calls.untilEnded(max, id);
  await killProcess(second);
  expect(done).toMatchObject({ status: 'COMPLETED', files_done: 2, bytes_done: done.bytes_total });
  expect(await hashesOf(ours, done.asset_id)).toEqual(await hashesOf(theirs, data.id));
  expect(stored.length).toBeLessThan(6);
});
