import { randomUUID } from 'node:crypto';
import { getMe, rotateApiKey } from '@bakehouse/contract/accounts';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { shareAsset, unshareAsset } from '@bakehouse/contract/asset-shares';
import { updateAsset } from '@bakehouse/contract/assets';
import type { CallOf, Endpoint } from '@bakehouse/contract/endpoint';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createToken, hashToken } from './engine/reports/attempts.ts';
import { goodData } from './modules/fine-tuning/testing/test-run.ts';
import { type Input, inputs, paramsOf } from './testing/access/call-inputs.ts';
import { contractEndpoints } from './testing/access/contract-endpoints.ts';
import { makeThings } from './testing/access/create-user-objects.ts';
import { realPython } from './testing/real-python.ts';
import { signUpOperator } from './testing/sign-up-operator.ts';
import { testServer } from './testing/test-server.ts';

/*
 * Calls every endpoint of the contract without a key, with a stale key, with another user's key, and with
 * another user's key on Ada's data. New endpoints are included automatically. An endpoint with a new kind of
 * id or input fails until it is added below.
 */

const endpoints = await contractEndpoints();
const server = await testServer({ config: realPython, readData: async () => goodData });
const [ada, bob, cy] = [await server.signUp('Ada'), await server.signUp('Bob'), await server.signUp('Cy')];
const stale = { ...ada };
ada.apiKey = (await server.request(rotateApiKey, {}, { as: ada })).data;

test('calls that pages of any site may make do not accept cookies', () => {
  const openToSites = endpoints.filter(({ path: target }) => target.startsWith('/v1/'));
  expect(new Set(openToSites.map(({ access }) => access))).toEqual(new Set(['key']));
});

/** Sends the minimum input that reaches the access checks, which run before the input is validated. */
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
  'the server binds %s',
  (_line, { method, path: url }) => {
    expect(server.app.http.hasRoute({ method, url })).toBe(true);
  },
);

describe('a route that requires a key', () => {
  test.each(withAccess('key', 'operator'))(
    '%s rejects calls without a key, with a stale key, or with only a session',
    async (_line, endpoint) => {
      expect(await statusOf(endpoint, {})).toBe(401);
      expect(await statusOf(endpoint, { 'x-api-key': 'nonsense' })).toBe(401);
      expect(await statusOf(endpoint, { 'x-api-key': stale.apiKey })).toBe(401);
      expect(await statusOf(endpoint, { authorization: `Bearer ${stale.apiKey}` })).toBe(401);
      expect(await statusOf(endpoint, { cookie: bob.cookie })).toBe(401);
    },
  );

  const personal = withAccess('key').filter(([, endpoint]) => namesAUser(endpoint));
  test.each(personal)("%s rejects another user's id", async (_line, endpoint) => {
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey }, ada.userId)).toBe(403);
  });

  test.each(withAccess('operator'))('%s rejects users who are not operators', async (_line, endpoint) => {
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
  )('%s refuses a read-only key', async (_line, endpoint) => {
    expect(await statusOf(endpoint, reader, olga.userId)).toBe(403);
  });

  test.each(withKey.filter(([, { scopes = [] }]) => !scopes.includes('inference')))(
    '%s rejects an inference key',
    async (_line, endpoint) => {
      expect(await statusOf(endpoint, asker, olga.userId)).toBe(403);
    },
  );

  test.each(withAccess('operator'))(
    "%s rejects an operator's key that has limits",
    async (_line, endpoint) => {
      expect(await statusOf(endpoint, reader, olga.userId)).toBe(403);
      expect(await statusOf(endpoint, budgeted, olga.userId)).toBe(403);
      expect(await statusOf(endpoint, { 'x-api-key': olga.apiKey }, olga.userId)).not.toBe(403);
    },
  );

  const changingKeys = withKey.filter(
    ([, { managesKeys, method, path: url }]) =>
      managesKeys || (method !== 'GET' && url.includes('/api_keys')),
  );
  test.each(changingKeys)("%s rejects every key except the web app's", async (_line, endpoint) => {
    for (const key of [reader, asker, budgeted, ending, further]) {
      expect(await statusOf(endpoint, key, olga.userId)).toBe(403);
    }
  });
});

test.each(withAccess('session'))("%s accepts its owner's session, but no key", async (_line, endpoint) => {
  expect(await statusOf(endpoint, {})).toBe(401);
  expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(401);
  if (namesAUser(endpoint)) expect(await statusOf(endpoint, { cookie: bob.cookie }, ada.userId)).toBe(403);
  if (endpoint.method !== 'GET')
    expect(await statusOf(endpoint, { cookie: bob.cookie, origin: 'https://evil.example' })).toBe(403);
  expect([401, 403]).not.toContain(await statusOf(endpoint, { cookie: bob.cookie }));
});

test.each(withAccess('key_or_session'))(
  "%s accepts only its owner's key or session",
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

test.each(withAccess('workload'))(
  '%s accepts only the token of its own workload',
  async (_line, endpoint) => {
    expect(await statusOf(endpoint, {})).toBe(401);
    expect(await statusOf(endpoint, { authorization: 'Bearer nonsense' })).toBe(401);
    expect(await statusOf(endpoint, { authorization: `Bearer ${bob.apiKey}` })).toBe(401);
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(401);
  },
);

/**
 * Every row that a call could change, read in one statement. Excludes `last_used_at` of keys, which each use
 * changes.
 */
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
    'share_links',
    'hub_clones',
    'asset_shares',
    'revisions',
    'revision_tags',
    'bulk_answers',
    'draft_documents',
    'draft_rows',
  ];
  const rowsOf = (table: string) =>
    sql`select ${table} as name, (to_jsonb(t) - 'last_used_at')::text as row from ${sql.table(table)} t`;
  const { rows } = await sql`${sql.join(tables.map(rowsOf), sql` union all `)} order by name, row`.execute(
    server.services.db,
  );
  return rows;
}

describe('an object of another user', async () => {
  const things = await makeThings({ server, ada });
  const before = await allRows();
  // Exceptions: every user may know that a restricted model exists; tracking services identify their users
  // themselves; Xet uploads have no owner yet.
  const naming = withAccess('key').filter(
    ([, { path: url }]) => /:(?!userId|modelId|type|service)/.test(url) && !url.startsWith('/hub/xet/'),
  );

  test.each(naming)('%s returns 404 for Bob', async (name, endpoint) => {
    const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, param]) => param ?? '');
    for (const param of names) expect(Object.keys(things), `Ada has no :${param}`).toContain(param);
    const input = { ...inputs[name], params: paramsOf(endpoint, things) };
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey }, bob.userId, input)).toBe(404);
    expect(await allRows()).toEqual(before);
  });

  test.each(naming.filter(([, { method }]) => method === 'GET'))(
    '%s works for Ada',
    async (name, endpoint) => {
      const input = { ...inputs[name], params: paramsOf(endpoint, things) };
      expect(await statusOf(endpoint, { 'x-api-key': ada.apiKey }, ada.userId, input)).toBe(200);
    },
  );

  // Calls on a single dataset or model, by its id or its repository name.
  const ofAsset = naming.filter(([, { path: url }]) =>
    /^\/api\/v1\/(asset|datasets)\/:id|^\/hub\/.*:name/.test(url),
  );
  const onlyReads = ({ method, scopes = [] }: Endpoint) => method === 'GET' || scopes.includes('read');
  // Calls that only the owner may make.
  const ownersAlone = new Set([
    'GET /api/v1/asset/:id/shares',
    'GET /api/v1/asset/:id/uploads',
    'GET /api/v1/asset/:id/uploads/:uploadId',
    'GET /hub/api/:type/:namespace/:name/xet-write-token/:revision',
  ]);
  const reading = ofAsset.filter(([name, endpoint]) => onlyReads(endpoint) && !ownersAlone.has(name));
  const writing = ofAsset.filter(([name, endpoint]) => !onlyReads(endpoint) || ownersAlone.has(name));
  // Calls that are invalid for every caller.
  const statusOfWrite = (name: string) => (/^DELETE .*\/branch|\/discussions/.test(name) ? 400 : 403);
  const askAs = (user: { userId: string; apiKey: string }, name: string, endpoint: Endpoint) =>
    statusOf(endpoint, { 'x-api-key': user.apiKey }, user.userId, {
      ...inputs[name],
      params: paramsOf(endpoint, things),
    });
  /** The dataset and the model that the calls use. */
  const opened = async () => {
    const rows = await server.services.db
      .selectFrom('assets')
      .select('id')
      .where('owner_user_id', '=', ada.userId)
      .where('title', 'in', ['rows', 'base'])
      .execute();
    return rows.map(({ id }) => id);
  };
  const publish = async (is_published: boolean) => {
    for (const id of await opened())
      await server.request(updateAsset, { params: { id }, body: { is_published } }, { as: ada });
  };

  describe('a published asset', () => {
    let rows: unknown;
    beforeAll(async () => {
      await publish(true);
      rows = await allRows();
    });

    test.each(reading)('%s works for Bob', async (name, endpoint) => {
      expect(await askAs(bob, name, endpoint)).toBe(200);
    });

    test.each(writing)('%s rejects Bob and changes nothing', async (name, endpoint) => {
      expect(await askAs(bob, name, endpoint)).toBe(statusOfWrite(name));
      expect(await allRows()).toEqual(rows);
    });
  });

  describe('an asset shared with Cy', async () => {
    const username = (await server.request(getMe, {}, { as: cy })).username;
    let rows: unknown;
    beforeAll(async () => {
      await publish(false);
      for (const id of await opened())
        await server.request(shareAsset, { params: { id }, body: { username } }, { as: ada });
      rows = await allRows();
    });

    test.each(reading)('%s works for Cy but not for Bob', async (name, endpoint) => {
      expect(await askAs(cy, name, endpoint)).toBe(200);
      expect(await askAs(bob, name, endpoint)).toBe(404);
    });

    test.each(writing)('%s rejects Cy and changes nothing', async (name, endpoint) => {
      expect(await askAs(cy, name, endpoint)).toBe(statusOfWrite(name));
      expect(await allRows()).toEqual(rows);
    });

    describe('an asset that is no longer shared with Cy', () => {
      beforeAll(async () => {
        for (const id of await opened())
          await server.send(unshareAsset, { params: { id, username } }, { as: ada });
      });

      test.each(ofAsset)('%s returns 404 for Cy', async (name, endpoint) => {
        expect(await askAs(cy, name, endpoint)).toBe(404);
      });
    });
  });

  test.each(withAccess('workload'))("%s rejects another workload's token", async (_name, endpoint) => {
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
