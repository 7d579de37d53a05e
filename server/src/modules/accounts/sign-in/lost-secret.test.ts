import { getApiKey, getMe, getSession, rotateApiKey } from '@bakehouse/contract/accounts';
import { expect, test } from 'vitest';
import { authClient, bodyOf, cookieOf, password } from '../../../testing/auth-client.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { testServer } from '../../../testing/test-server.ts';

test("after the server's secret was lost, users can still sign in, and their API keys still work", async () => {
  const database = await testDatabase();
  const before = await testServer({ database });
  const ada = await before.signUp('Ada');

  const after = await testServer({ database, config: { secret: 'another-secret-another-secret-another' } });
  const { post } = authClient(after);
  expect((await after.request(getMe, {}, { as: ada })).id).toBe(ada.userId);
  const signedIn = await post('/sign-in/email', { email: ada.email, password });
  expect(signedIn.status).toBe(200);
  expect((await bodyOf(signedIn)).user.id).toBe(ada.userId);

  const headers = { cookie: cookieOf(signedIn) };
  const query = { user_id: ada.userId };
  await expect(after.request(getApiKey, { query }, { headers })).rejects.toMatchObject({
    status: 409,
    code: 'key_not_readable',
  });
  const page = await after.request(getSession, {}, { headers });
  expect(page).toMatchObject({ user: { id: ada.userId }, api_key: null });
  // Rotation happens only when the owner requests it.
  expect((await after.request(getMe, {}, { as: ada })).id).toBe(ada.userId);

  const { data: fresh } = await after.request(
    rotateApiKey,
    {},
    { headers: { ...headers, origin: after.url } },
  );
  expect((await after.request(getApiKey, { query }, { headers })).data).toBe(fresh);
  expect((await after.request(getMe, {}, { as: { apiKey: fresh } })).id).toBe(ada.userId);
  await expect(after.request(getMe, {}, { as: ada })).rejects.toMatchObject({ status: 401 });
});
