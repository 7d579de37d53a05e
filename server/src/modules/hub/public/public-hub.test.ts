import {
  deleteHubToken,
  getHubRepository,
  getHubToken,
  HUB_UNREACHABLE,
  saveHubToken,
  searchHub,
} from '@bakehouse/contract/hub/public';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { auditedActions, safetensors } from '../testing/clones.ts';
import { commitOf, type HubRepo, openPublicHub, type PublicHub } from '../testing/public-hub.ts';

const TOKEN = 'hf_of_ada_at_the_hub';

const rye: HubRepo = {
  type: 'model',
  id: 'bakery/rye-7b',
  downloads: 90,
  card: { license: 'apache-2.0' },
  files: {
    'README.md': '# Rye',
    'config.json': JSON.stringify({ model_type: 'qwen2' }),
    'tokenizer.json': '{}',
    'model.safetensors': safetensors(5_000),
    'pytorch_model.bin': Buffer.alloc(5_000, 1),
    'training_args.bin': Buffer.alloc(10, 1),
  },
};
const gated: HubRepo = {
  ...rye,
  id: 'bakery/secret-rye',
  card: { license: 'other', license_name: 'bread-only' },
  gatedFor: ['ada-at-the-hub'],
};
const pickled: HubRepo = {
  ...rye,
  id: 'bakery/old-rye',
  files: { 'pytorch_model.bin': Buffer.alloc(2_000, 1) },
};
const others = Array.from(
  { length: 7 },
  (_, at): HubRepo => ({
    ...{ type: 'dataset', id: `bakery/loaves-${at}`, downloads: at, files: { 'rows.csv': 'a,b\n1,2\n' } },
  }),
);

let hub: PublicHub;
let server: TestServer;
let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  hub = await openPublicHub([rye, gated, pickled, ...others]);
  hub.accounts[TOKEN] = 'ada-at-the-hub';
  server = await testServer();
  server.services.config.hubUrl = hub.url;
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

const search = (query: object) => server.request(searchHub, { query }, { as: ada });
const details = (repo_id: string, as = ada, query: object = {}) =>
  server.request(
    getHubRepository,
    { query: { repo_id, repo_type: 'model', user_id: as.userId, ...query } },
    { as },
  );

describe('a search', () => {
  test('finds models and datasets by name, most downloaded first, page by page', async () => {
    const { results, total_results } = await search({ query: 'rye' });
    expect(results.map(({ repo_id }) => repo_id)).toEqual([
      'bakery/rye-7b',
      'bakery/secret-rye',
      'bakery/old-rye',
    ]);
    expect(total_results).toBe(3);
    expect(results[1]).toMatchObject({ gated: true, downloads: 90, task: 'text-generation' });

    const page = (number: number) => search({ search_type: 'dataset', page: number, top_k: 3 });
    const [first, second, third, beyond] = await Promise.all([1, 2, 3, 400].map(page));
    expect(first?.results.map(({ repo_id }) => repo_id.at(-1))).toEqual(['6', '5', '4']);
    expect([first, second, third].map((one) => one?.total_results)).toEqual([4, 7, 7]);
    expect(third?.results).toHaveLength(1);
    expect(beyond).toEqual({ results: [], total_results: 1000 });
  });

  test('reports a hub that is unreachable or responds incorrectly, without affecting other calls', async () => {
    const lost = await testServer();
    const eve = await lost.signUp('Eve');
    const unreachable = { status: 503, message: expect.stringContaining(HUB_UNREACHABLE) };
    await expect(lost.request(searchHub, { query: {} }, { as: eve })).rejects.toMatchObject(unreachable);
    const answers = ['nonsense', '{}', '[{"id": 7}]'];
    for (const body of answers) {
      hub.instead = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
        return true;
      };
      await expect(search({ query: 'rye' })).rejects.toMatchObject(unreachable);
    }
    hub.instead = (_request, response) => {
      response.writeHead(429, { 'retry-after': '7' }).end();
      return true;
    };
    await expect(search({})).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('The public hub accepts no more requests for now. Try again in 7 s'),
    });
    for (const to of ['http://10.0.0.1/', 'http://localhost:1/', 'file:///etc/passwd', 'http://[::1]:1/']) {
      hub.instead = (_request, response) => {
        response.writeHead(302, { location: to }).end();
        return true;
      };
      await expect(search({ query: 'rye' })).rejects.toMatchObject(unreachable);
    }
    hub.instead = null;
  });
});

describe('the details of a repository', () => {
  test('include its licence, size, skipped files, and where the model could be deployed and trained', async () => {
    expect(await details('bakery/rye-7b', ada, { include_file_info: 'true' })).toMatchObject({
      revision: commitOf(rye),
      licence: 'apache-2.0',
      gated: false,
      family: 'qwen',
      file_count: 4,
      left_out: { file_count: 2, size_bytes: 5_010 },
      obstacle: null,
      // The test server has a CPU but no GPU.
      deploy: { device: null, obstacle: expect.stringContaining('has no GGUF file') },
      train: { device: 'CPU', obstacle: null },
      quota_left_bytes: 50 * 1024 ** 3,
      disk_left_bytes: expect.any(Number),
      cloned_asset_id: null,
    });
    const { files } = await details('bakery/rye-7b', ada, { include_file_info: 'true' });
    expect(files.filter(({ left_out }) => left_out).map(({ path }) => path)).toEqual([
      'pytorch_model.bin',
      'training_args.bin',
    ]);
    expect((await details('bakery/rye-7b')).files).toEqual([]);
    expect(await details('bakery/loaves-1', ada, { repo_type: 'dataset' })).toMatchObject({
      ...{ file_count: 1, size_bytes: 8, deploy: null, train: null, obstacle: null },
    });
  });

  test('include the reason why it cannot be cloned: only pickles, or no room', async () => {
    expect((await details('bakery/old-rye')).obstacle).toMatch(/pickles.*safetensors or GGUF$/);
    server.services.config.storageGb = 1e-6;
    const { obstacle, quota_left_bytes } = await details('bakery/rye-7b');
    server.services.config.storageGb = 50;
    expect([obstacle, Math.floor(quota_left_bytes ?? 0)]).toEqual([
      expect.stringContaining('are left'),
      1073,
    ]);
  });

  test.each([
    ['bakery/nothing', 404, 'The public hub has no model bakery/nothing that you may read'],
    ['../etc/passwd', 400, 'repo_id must be written as on the hub: owner/name'],
    ['a/b/c', 400, 'repo_id must be written as on the hub: owner/name'],
    ['a?b=c', 400, 'repo_id must be written as on the hub: owner/name'],
    ['', 400, 'repo_id must be written as on the hub: owner/name'],
  ])('of %j are rejected', async (repoId, status, message) => {
    await expect(details(repoId)).rejects.toMatchObject({ status, body: { error: { message } } });
  });
});

describe('a token', () => {
  const tokenCall = () => ({ params: { userId: ada.userId } });
  const save = (token: string, as = ada) =>
    server.request(saveHubToken, { params: { userId: as.userId }, body: { token } }, { as });

  test('opens a gated repository only to the user who saved it, and is never shown', async () => {
    const closed = await details('bakery/secret-rye');
    expect(closed).toMatchObject({ gated: true, licence: 'bread-only', family: '' });
    expect(closed.obstacle).toMatch(/is gated: accept its terms .* save an access token/);

    const saved = await save(TOKEN);
    expect(saved).toEqual({ token: { account: 'ada-at-the-hub', saved_at: expect.any(String) } });
    expect(await server.request(getHubToken, tokenCall(), { as: ada })).toEqual(saved);
    expect(await details('bakery/secret-rye')).toMatchObject({ obstacle: null, family: 'qwen' });
    expect((await details('bakery/secret-rye', bob)).obstacle).toContain('is gated');

    const rows = await server.services.db.selectFrom('hub_tokens').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(TOKEN);
    expect(rows[0]?.encrypted.includes(TOKEN)).toBe(false);
    expect(await server.request(deleteHubToken, tokenCall(), { as: ada })).toEqual({ token: null });
    expect(await auditedActions(server, ada, 'hub_token.%')).toEqual([
      'hub_token.saved',
      'hub_token.deleted',
    ]);
    expect((await details('bakery/secret-rye')).obstacle).toContain('is gated');
  });

  test('that is invalid or unknown to the hub is rejected and not stored', async () => {
    await expect(save('hf_somebody')).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'token', message: 'The public hub does not know this token' } },
    });
    await expect(save('with a space')).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'token' } },
    });
    expect(await server.request(getHubToken, tokenCall(), { as: ada })).toEqual({ token: null });
  });

  test('that was revoked on the hub is reported', async () => {
    await save(TOKEN);
    delete hub.accounts[TOKEN];
    expect((await details('bakery/secret-rye')).obstacle).toMatch(/the account of your token has no access/);
    hub.accounts[TOKEN] = 'ada-at-the-hub';
    server.services.config.secret = 'another secret of at least 32 characters';
    expect((await details('bakery/secret-rye')).obstacle).toMatch(/save an access token/);
  });
});
