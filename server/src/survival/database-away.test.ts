import { getMe } from '@bakehouse/contract/accounts';
import { expect, test } from 'vitest';
import { prepareDatabase } from '../platform/db/setup/prepare-database.ts';
import { authClient, password } from '../testing/auth-client.ts';
import { onFileEnd } from '../testing/on-file-end.ts';
import { startTemporaryPostgres } from '../testing/temporary-postgres.ts';
import { testServer } from '../testing/test-server.ts';

test('without its database, every call responds that the server is temporarily unavailable', async () => {
  const postgres = await startTemporaryPostgres();
  const stop = onFileEnd(postgres.stop);
  await prepareDatabase(postgres.url);
  const database = { url: postgres.url, close: async () => undefined };
  const server = await testServer({ database });
  const { post } = authClient(server);
  const ada = await server.signUp('Ada');
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  await stop();

  const answers = {
    key: await server.send(getMe, {}, { as: ada }),
    signIn: await post('/sign-in/email', { email: ada.email, password }),
    signUp: await post('/sign-up/email', { name: 'Bob', email: 'bob@example.com', password }),
    reset: await post('/request-password-reset', { email: ada.email, redirectTo: '/' }),
    session: await fetch(`${server.url}/api/v1/session`, { headers: { cookie: ada.cookie } }),
    keyBySession: await fetch(`${server.url}/api/v1/api_keys?user_id=${ada.userId}`, {
      headers: { cookie: ada.cookie },
    }),
    ready: await expectSoon(() => fetch(`${server.url}/readyz`), 503),
  };
  for (const [name, response] of Object.entries(answers)) {
    expect([name, response.status]).toEqual([name, 503]);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.json()).toMatchObject({ error: { code: 'unavailable' } });
  }
}, 300_000);

/** The readiness check is cached for a moment, so wait. */
async function expectSoon(ask: () => Promise<Response>, status: number): Promise<Response> {
  await expect.poll(async () => (await ask()).status).toBe(status);
  return ask();
}
