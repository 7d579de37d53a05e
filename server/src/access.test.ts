import { randomUUID } from 'node:crypto';
import { rotateApiKey } from '@bakehouse/contract/accounts';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { createUpload } from '@bakehouse/contract/asset-uploads';
import { createAsset, updateAsset } from '@bakehouse/contract/assets';
import { saveConfiguration } from '@bakehouse/contract/configurations';
import { imageCalls } from '@bakehouse/contract/deployments/images';
import { deployVllm, vllmStatus } from '@bakehouse/contract/deployments/text';
import type { CallOf, Endpoint } from '@bakehouse/contract/endpoint';
import { whoAmI } from '@bakehouse/contract/hub/repositories';
import { listRuns } from '@bakehouse/contract/training';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createToken, hashToken } from './engine/reports/workload-token.ts';
import { insertFlux } from './modules/deployments/testing/test-models.ts';
import { workOff } from './modules/ipfs/testing/work-off.ts';
import { emptySafetensors, goodData } from './modules/training/testing/test-run.ts';
import { form, type Input, inputs, paramsOf } from './testing/access/call-inputs.ts';
import { contractEndpoints } from './testing/access/contract-endpoints.ts';
import { insertPicture, insertRows } from './testing/access/insert-rows.ts';
import { signUpOperator } from './testing/sign-up-operator.ts';
import { testServer } from './testing/test-server.ts';

/*
 * Who may call what: every endpoint of the contract with no key, a key that is nobody's any more,
 * another user's key, and another user's key on what is Ada's. A new endpoint is covered by being
 * written; one that names a new kind of thing, or takes new input, fails until it is told below.
 */

const endpoints = await contractEndpoints();
const server = await testServer({ readData: async () => goodData });
const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
const stale = { ...ada };
ada.apiKey = (await server.request(rotateApiKey, {}, { as: ada })).data;

test('what pages of every site may call, no cookie opens', () => {
  const openToSites = endpoints.filter(({ path: target }) => target.startsWith('/v1/'));
  expect(new Set(openToSites.map(({ access }) => access))).toEqual(new Set(['key']));
});

/** Sends just enough for the checks of access, which come before those of the input; more where it is given. */
async function statusOf(
  endpoint: Endpoint,
  headers: Record<string, string>,
  userId = bob.userId,
  { params = {}, query = {}, body = {} }: Input = {},
): Promise<number> {
  const values: Record<string, string> = { userId, '*': 'x', ...params };
  const target = new URL(
    endpoint.path.replace(/:(\w+)|\*/g, (part, name?: string) => values[name ?? part] ?? randomUUID()),
    server.url,
  );
  for (const name of ['user_id', 'userId', 'owner'])
    if (hasField(endpoint.query, name)) target.searchParams.set(name, userId);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  const names = hasField(endpoint.body, 'user_id') ? { user_id: userId } : {};
  const takesBody = endpoint.method !== 'GET' && endpoint.method !== 'HEAD' && endpoint.body !== undefined;
  const response = await fetch(target, {
    method: endpoint.method,
    headers: { ...headers, ...(takesBody && { 'content-type': 'application/json' }) },
    body: body instanceof FormData ? body : takesBody ? JSON.stringify({ ...names, ...body }) : null,
  });
  await response.body?.cancel();
  return response.status;
}

function hasField(schema: z.ZodType | undefined, name: string): boolean {
  return schema instanceof z.ZodObject && name in schema.shape;
}

function namesAUser(endpoint: Endpoint): boolean {
  return (
    endpoint.path.includes(':userId') ||
    hasField(endpoint.query, 'user_id') ||
    hasField(endpoint.query, 'userId') ||
    hasField(endpoint.query, 'owner') ||
    hasField(endpoint.body, 'user_id')
  );
}

const line = (endpoint: Endpoint) => `${endpoint.method} ${endpoint.path}`;
const withAccess = (...access: Endpoint['access'][]) =>
  endpoints.filter((one) => access.includes(one.access)).map((one) => [line(one), one] as const);

test.each(endpoints.map((one) => [line(one), one] as const))(
  '%s is answered by the server',
  (_line, { method, path: url }) => {
    expect(server.app.http.hasRoute({ method, url })).toBe(true);
  },
);

describe('a route that takes a key', () => {
  test.each(withAccess('key', 'operator'))(
    '%s refuses no key, a stale key, and a session alone',
    async (_line, endpoint) => {
      expect(await statusOf(endpoint, {})).toBe(401);
      expect(await statusOf(endpoint, { 'x-api-key': 'nonsense' })).toBe(401);
      expect(await statusOf(endpoint, { 'x-api-key': stale.apiKey })).toBe(401);
      expect(await statusOf(endpoint, { authorization: `Bearer ${stale.apiKey}` })).toBe(401);
      expect(await statusOf(endpoint, { cookie: bob.cookie })).toBe(401);
    },
  );

  const personal = withAccess('key').filter(([, endpoint]) => namesAUser(endpoint));
  test.each(personal)("%s refuses another user's id", async (_line, endpoint) => {
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey }, ada.userId)).toBe(403);
  });

  test.each(withAccess('operator'))('%s refuses everybody who is no operator', async (_line, endpoint) => {
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(403);
  });
});

describe('an API key', async () => {
  const olga = await signUpOperator(server, 'Olga');
  const makeKey = async (settings: Partial<CallOf<typeof createApiKey>['body']>) => {
    const call = { params: { userId: olga.userId }, body: { name: 'program', ...settings } };
    const { secret } = await server.request(createApiKey, call, { as: olga });
    return { 'x-api-key': secret };
  };
  const reader = await makeKey({ scopes: ['read'] });
  const asker = await makeKey({ scopes: ['inference'] });
  const ending = await makeKey({ expires_at: '2099-01-01T00:00:00Z' });
  const further = await makeKey({});
  const budgeted = await makeKey({ budget: { amount: '1', period: 'day' } });

  const withKey = withAccess('key', 'key_or_session', 'operator');
  test.each(
    withKey.filter(
      ([, { method, scopes }]) => method !== 'GET' && method !== 'HEAD' && !scopes?.includes('read'),
    ),
  )('%s refuses one that reads', async (_line, endpoint) => {
    expect(await statusOf(endpoint, reader, olga.userId)).toBe(403);
  });

  test.each(withKey.filter(([, { scopes = [] }]) => !scopes.includes('inference')))(
    '%s refuses one that asks models',
    async (_line, endpoint) => {
      expect(await statusOf(endpoint, asker, olga.userId)).toBe(403);
    },
  );

  test.each(withAccess('operator'))("%s refuses an operator's that is limited", async (_line, endpoint) => {
    expect(await statusOf(endpoint, reader, olga.userId)).toBe(403);
    expect(await statusOf(endpoint, budgeted, olga.userId)).toBe(403);
    expect(await statusOf(endpoint, { 'x-api-key': olga.apiKey }, olga.userId)).not.toBe(403);
  });

  const changingKeys = withKey.filter(
    ([, { managesKeys, method, path: url }]) =>
      managesKeys || (method !== 'GET' && url.includes('/api_keys')),
  );
  test.each(changingKeys)("%s refuses every one but the web app's", async (_line, endpoint) => {
    for (const key of [reader, asker, budgeted, ending, further]) {
      expect(await statusOf(endpoint, key, olga.userId)).toBe(403);
    }
  });
});

test.each(withAccess('session'))('%s takes the owner of the session, and no key', async (_line, endpoint) => {
  expect(await statusOf(endpoint, {})).toBe(401);
  expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(401);
  if (namesAUser(endpoint)) expect(await statusOf(endpoint, { cookie: bob.cookie }, ada.userId)).toBe(403);
  if (endpoint.method !== 'GET')
    expect(await statusOf(endpoint, { cookie: bob.cookie, origin: 'https://evil.example' })).toBe(403);
  expect([401, 403]).not.toContain(await statusOf(endpoint, { cookie: bob.cookie }));
});

test.each(withAccess('key_or_session'))(
  '%s takes a key or a session, of its owner alone',
  async (_line, endpoint) => {
    expect(await statusOf(endpoint, {})).toBe(401);
    expect(await statusOf(endpoint, { 'x-api-key': stale.apiKey })).toBe(401);
    expect(await statusOf(endpoint, { 'x-api-key': stale.apiKey, cookie: bob.cookie })).toBe(401);
    if (endpoint.method !== 'GET')
      expect(await statusOf(endpoint, { cookie: bob.cookie, origin: 'https://evil.example' })).toBe(403);
    if (namesAUser(endpoint)) {
      expect(await statusOf(endpoint, { cookie: bob.cookie }, ada.userId)).toBe(403);
      expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey }, ada.userId)).toBe(403);
    }
  },
);

test.each(withAccess('workload'))('%s takes the token of its workload alone', async (_line, endpoint) => {
  expect(await statusOf(endpoint, {})).toBe(401);
  expect(await statusOf(endpoint, { authorization: 'Bearer nonsense' })).toBe(401);
  expect(await statusOf(endpoint, { authorization: `Bearer ${bob.apiKey}` })).toBe(401);
  expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(401);
});

/** Adds a file to an asset of Ada's. */
async function addFile(id: string, name: string, bytes: Buffer, path?: string): Promise<void> {
  const answer = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': ada.apiKey },
    body: form(name, bytes, path),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

/** An asset of Ada's with these files. */
async function makeAsset(
  dataset_type: 'RAW' | 'MODEL',
  title: string,
  files: Record<string, Buffer>,
): Promise<string> {
  const body = { dataset_type, title, user_id: ada.userId };
  const id = await server.request(createAsset, { body }, { as: ada });
  for (const [name, bytes] of Object.entries(files)) await addFile(id, name, bytes);
  return id;
}

/** The dataset `rows` as the hub's clients name it, with a folder. */
async function nameRepository(id: string): Promise<Record<string, string>> {
  await addFile(id, 'rows.csv', Buffer.from('question\na\n'), 'folder/rows.csv');
  const { name: namespace } = await server.request(whoAmI, {}, { as: ada });
  return { type: 'datasets', namespace, name: 'rows', revision: 'main', branch: 'main' };
}

/** One of each of Ada's things, under the names that the paths of the contract give them. */
async function makeThings(): Promise<Record<string, string>> {
  const as = ada;
  const id = await makeAsset('RAW', 'rows', { 'rows.csv': Buffer.from('question,answer\na,b\n') });
  const repository = await nameRepository(id);
  const base = await makeAsset('MODEL', 'base', {
    'config.json': Buffer.from('{}'),
    'model.safetensors': emptySafetensors(),
    'model.gguf': emptyGguf(),
  });
  const fine_tune_payload = {
    asset_id: id,
    base_model: base,
    model_name: 'tuned',
    file_name: 'rows.csv',
    user_id: as.userId,
    input_column: 'question',
    output_column: 'answer',
  };
  const body = { dataset_type: 'MODEL', title: 'tuned', user_id: as.userId, fine_tune_payload } as const;
  await server.request(createAsset, { body }, { as });
  const { runs } = await server.request(listRuns, { query: {} }, { as });
  await addFile(runs[0]?.model_id ?? '', 'rows.csv', Buffer.from('question,answer\na,b\n'));
  const config_name = 'mine';
  const saved = await server.request(
    saveConfiguration,
    { body: { config_name, fine_tune_payload: {} } },
    { as },
  );
  const { pod_id: podId } = await server.request(
    deployVllm,
    { body: { model_id: base, user_id: as.userId } },
    { as },
  );
  const { assetId: flux } = await insertFlux(server.services, ada, 'Flux');
  const { pod_id: imagePodId } = await server.request(
    imageCalls.flux.deploy,
    { body: { model_id: flux, user_id: as.userId } },
    { as },
  );
  const { model_name: model } = await server.request(vllmStatus, { params: { podId } }, { as });
  const { api_key } = await server.request(
    createApiKey,
    { params: { userId: as.userId }, body: { name: 'program' } },
    { as },
  );
  const upload = { params: { id }, body: { path: 'more.csv', size_bytes: 1 } };
  const { upload_id: uploadId } = await server.request(createUpload, upload, { as });
  await server.request(updateAsset, { params: { id }, body: { use_ipfs: true } }, { as });
  await workOff(server.services);
  return {
    ...(await insertRows(server, ada, id)),
    uploadId,
    number: '1',
    ...(await insertPicture(server, ada, id)),
    keyId: api_key.id,
    id,
    ...repository,
    '*': 'rows.csv',
    fileName: 'rows.csv',
    runId: runs[0]?.run_id ?? '',
    jobId: runs[0]?.run_id ?? '',
    modelId: runs[0]?.model_id ?? '',
    configId: saved.config_id,
    podId,
    imagePodId,
    model,
  };
}

/** Magic, version 3, no tensors, no values. */
function emptyGguf(): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write('GGUF');
  bytes.writeUInt32LE(3, 4);
  return bytes;
}

/** All that could be changed by a call; when a key was last used changes beside it. */
async function allRows(): Promise<unknown> {
  const tables = [
    'api_keys',
    'assets',
    'asset_files',
    'uploads',
    'upload_parts',
    'runs',
    'workloads',
    'training_configurations',
    'deployments',
    'generations',
    'generation_outputs',
    'hub_clones',
  ];
  return Promise.all(
    tables.map((table) =>
      sql`select (to_jsonb(t) - 'last_used_at')::text as row from ${sql.table(table)} t order by row`.execute(
        server.services.db,
      ),
    ),
  );
}

describe("another user's thing", async () => {
  const things = await makeThings();
  const before = await allRows();
  // Restricted models are nobody's own: everybody may see that they are there. What comes by Xet is nobody's yet.
  const naming = withAccess('key').filter(
    ([, { path: url }]) => /:(?!userId|modelId|type)/.test(url) && !url.startsWith('/hub/xet/'),
  );

  test.each(naming)('%s is not there for Bob', async (name, endpoint) => {
    const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, param]) => param ?? '');
    for (const param of names) expect(Object.keys(things), `Ada has no :${param}`).toContain(param);
    const input = { ...inputs[name], params: paramsOf(endpoint, things) };
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey }, bob.userId, input)).toBe(404);
    expect(await allRows()).toEqual(before);
  });

  test.each(naming.filter(([, { method }]) => method === 'GET'))(
    '%s is there for Ada',
    async (name, endpoint) => {
      const input = { ...inputs[name], params: paramsOf(endpoint, things) };
      expect(await statusOf(endpoint, { 'x-api-key': ada.apiKey }, ada.userId, input)).toBe(200);
    },
  );

  test.each(withAccess('workload'))("%s does not take another workload's token", async (_name, endpoint) => {
    const { db } = server.services;
    const [first, second] = await db.selectFrom('workloads').select('id').orderBy('id').execute();
    const token = createToken();
    await db
      .updateTable('workloads')
      .set({ token_sha256: hashToken(token) })
      .where('id', '=', first?.id ?? '')
      .execute();
    await db
      .updateTable('workloads')
      .set({ token_sha256: hashToken(createToken()) })
      .where('id', '=', second?.id ?? '')
      .execute();
    const statusAt = (workloadId = '') =>
      statusOf(endpoint, { authorization: `Bearer ${token}` }, bob.userId, {
        params: { workloadId, sha256: '0'.repeat(64) },
      });
    expect(await statusAt(first?.id)).not.toBe(401);
    expect(await statusAt(second?.id)).toBe(401);
  });
});
