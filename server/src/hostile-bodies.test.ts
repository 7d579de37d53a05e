import { getMe } from '@bakehouse/contract/accounts';
import { createAsset } from '@bakehouse/contract/assets';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import { createMessage } from '@bakehouse/contract/messages';
import { expect, test } from 'vitest';
import { contractEndpoints } from './testing/access/contract-endpoints.ts';
import { type HostileBody, hostileBodies } from './testing/hostile-bodies.ts';
import { serverProcess } from './testing/server-process.ts';
import { effort } from './testing/soak.ts';
import { testClient } from './testing/test-client.ts';
import { testDatabase } from './testing/test-database.ts';

/*
 * Sends the largest permitted hostile bodies to a server in another process. The server must survive, and its
 * event loop must not block. A soak covers every operation with a body. The gate permits longer delays,
 * because other tests run at the same time.
 */

const DELAY_MS_MAX = effort({ usual: 1_000, soak: 200 });
/** A body fails only if all tries are slow, because another test may cause a single delay. */
const TRIES = 3;
const ANSWER_MS_MAX = 120_000;
const USUAL = new Set([
  'POST /api/v1/asset',
  'POST /v1/chat/completions',
  'POST /v1/responses',
  'POST /api/v1/asset/:id/sql',
]);

const { url: databaseUrl } = await testDatabase();
const server = await serverProcess(databaseUrl, ['web'], {
  BAKEHOUSE_SECRET: 'only-for-tests-only-for-tests-only',
});
expect(await server.start()).toBe('');
const client = testClient(server.url);

/** Returns the longest delay of the server's event loop since the last call. */
async function measureDelayMs(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return 1_000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]);
}

async function open(endpoint: Endpoint) {
  const user = await client.signUp('Eve');
  const { userId } = user;
  const asset = { dataset_type: 'RAW', title: 'Hostile', user_id: userId } as const;
  const id = await client.request(createAsset, { body: asset }, { as: user });
  const me = await client.request(getMe, {}, { as: user });
  const values: Record<string, string> = {
    ...{ userId, user_id: userId, type: 'datasets', namespace: me.username, name: 'Hostile' },
    ...{ revision: 'main', '*': 'README.md' },
  };
  const target = new URL(
    endpoint.path.replace(/:(\w+)|\*/g, (part, name?: string) => values[name ?? part] ?? id),
    server.url,
  );
  target.searchParams.set('user_id', userId);
  const headers: Record<string, string> =
    endpoint.access === 'session'
      ? { cookie: user.cookie, origin: server.url }
      : { 'x-api-key': user.apiKey };
  return async ({ body, type }: HostileBody): Promise<number> => {
    const response = await fetch(target, {
      method: endpoint.method,
      headers: { ...headers, ...(type && { 'content-type': type }) },
      body,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    await response.arrayBuffer();
    return response.status;
  };
}

test('notices when the server stops responding', async () => {
  await measureDelayMs();
  server.signal('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 2 * DELAY_MS_MAX));
  server.signal('SIGCONT');
  expect(await measureDelayMs()).toBeGreaterThan(DELAY_MS_MAX);
});

test('sends hostile JSON Schemas in bodies too', () => {
  const [body] = hostileBodies(createMessage, crypto.randomUUID()).filter(({ name }) =>
    name.startsWith('one string in fields'),
  );
  const sent = typeof body?.body === 'string' ? body.body : '';
  const { tools } = JSON.parse(sent) as { tools: { input_schema: object }[] };
  const text = expect.stringMatching(/^a{1000}/);
  expect(tools[0]?.input_schema).toMatchObject({
    properties: { a: { description: text, pattern: text } },
  });
});

test('hostile bodies neither end the server nor block its event loop', {
  timeout: 3 * 3_600_000,
}, async () => {
  const endpoints = (await contractEndpoints()).filter(
    ({ body, upload, access, method, path }) =>
      (body ?? upload) &&
      !['operator', 'workload'].includes(access) &&
      effort({ usual: USUAL.has(`${method} ${path}`), soak: true }),
  );
  expect(endpoints.length).toBeGreaterThanOrEqual(effort({ usual: USUAL.size, soak: 80 }));
  const slow: string[] = [];
  let understood = 0;
  for (const endpoint of endpoints) {
    const send = await open(endpoint);
    const name = `${endpoint.method} ${endpoint.path}`;
    for (const hostile of hostileBodies(endpoint, crypto.randomUUID())) {
      let delayMs = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < TRIES && delayMs > DELAY_MS_MAX; tries += 1) {
        await measureDelayMs();
        const status = await send(hostile).catch((cause: unknown) => {
          throw new Error(`${name}: no answer to ${hostile.name}`, { cause });
        });
        expect([name, hostile.name, status]).not.toEqual([name, hostile.name, 500]);
        if (![401, 403, 404].includes(status)) understood += 1;
        delayMs = Math.min(delayMs, await measureDelayMs());
      }
      if (delayMs > DELAY_MS_MAX) slow.push(`${name}, ${hostile.name}: ${Math.round(delayMs)} ms`);
    }
  }
  expect(understood).toBeGreaterThan(10 * USUAL.size);
  expect(slow).toEqual([]);
});
