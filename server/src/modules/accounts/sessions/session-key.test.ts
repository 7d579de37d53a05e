import { getApiKey, getMe, getSession, rotateApiKey } from '@bakehouse/contract/accounts';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, testServer } from '../../../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

describe('the session endpoint', () => {
  test("returns the user and the session's key, or null without a session", async () => {
    const kim = await server.signUp('Kim');
    const ask = (headers: Record<string, string>) => server.request(getSession, {}, { headers });
    expect(await ask({ cookie: kim.cookie })).toEqual({
      user: await server.request(getMe, {}, { as: kim }),
      api_key: kim.apiKey,
    });
    const noSession = { user: null, api_key: null };
    expect(await ask({})).toEqual(noSession);
    expect(await ask({ cookie: 'bakehouse.session_token=made-up' })).toEqual(noSession);
    // A key is not a session.
    expect(await ask({ 'x-api-key': kim.apiKey })).toEqual(noSession);
  });

  test('is not cached, and removes the cookie of an ended session', async () => {
    const mia = await server.signUp('Mia');
    const ask = () => fetch(`${server.url}${getSession.path}`, { headers: { cookie: mia.cookie } });
    expect((await ask()).headers.get('cache-control')).toBe('no-store');
    await server.services.db.deleteFrom('sessions').where('user_id', '=', mia.userId).execute();
    const [cookie = ''] = (await ask()).headers.getSetCookie();
    expect(cookie).toMatch(/^bakehouse\.session_token=;.*Max-Age=0/);
  });

  test('extends the session in the database and in the browser', async () => {
    const lea = await server.signUp('Lea');
    const ask = () => fetch(`${server.url}${getSession.path}`, { headers: { cookie: lea.cookie } });
    expect((await ask()).headers.getSetCookie()).toEqual([]);
    const { db } = server.services;
    const expiry = () =>
      db
        .selectFrom('sessions')
        .select('expires_at')
        .where('user_id', '=', lea.userId)
        .executeTakeFirstOrThrow();
    const soon = new Date(Date.now() + 24 * 60 * 60 * 1000);
    await db.updateTable('sessions').set({ expires_at: soon }).where('user_id', '=', lea.userId).execute();
    const [cookie = ''] = (await ask()).headers.getSetCookie();
    expect(cookie).toMatch(/^bakehouse\.session_token=.*Max-Age=604800/);
    expect((await expiry()).expires_at.getTime()).toBeGreaterThan(soon.getTime());
  });
});

describe('the API key', () => {
  test('is shown to a session of its owner only', async () => {
    const [kim, lea] = [await server.signUp('Kim'), await server.signUp('Lea')];
    const ask = (userId: string, headers: Record<string, string>) =>
      server.request(getApiKey, { query: { user_id: userId } }, { headers });
    expect((await ask(kim.userId, { cookie: kim.cookie })).data).toBe(kim.apiKey);
    await expect(ask(lea.userId, { cookie: kim.cookie })).rejects.toMatchObject({ status: 403 });
    await expect(ask(kim.userId, { cookie: 'bakehouse.session_token=made-up' })).rejects.toMatchObject({
      status: 401,
    });
  });

  test('is returned to a program that sends it, and not to a program with another key', async () => {
    const [kim, lea] = [await server.signUp('Kim'), await server.signUp('Lea')];
    const ask = (key: string) =>
      server.request(getApiKey, { query: { user_id: kim.userId } }, { headers: { 'x-api-key': key } });
    expect(await ask(kim.apiKey)).toEqual({ data: kim.apiKey });
    const call = { params: { userId: kim.userId }, body: { name: 'program' } };
    const { secret } = await server.request(createApiKey, call, { as: kim });
    await expect(ask(secret)).rejects.toMatchObject({ status: 403 });
    await expect(ask(lea.apiKey)).rejects.toMatchObject({ status: 403 });
    await expect(ask('nonsense')).rejects.toMatchObject({ status: 401 });
  });

  test('can be rotated, after which the old key is immediately invalid', async () => {
    const max = await server.signUp('Max');
    const { data: fresh } = await server.request(rotateApiKey, {}, { as: max });
    expect(fresh).not.toBe(max.apiKey);
    await expect(server.request(getMe, {}, { as: max })).rejects.toMatchObject({ status: 401 });
    expect((await server.request(getMe, {}, { as: { apiKey: fresh } })).id).toBe(max.userId);
    const shown = await server.request(
      getApiKey,
      { query: { user_id: max.userId } },
      { headers: { cookie: max.cookie } },
    );
    expect(shown.data).toBe(fresh);
    const rows = await server.services.db
      .selectFrom('audit_log')
      .select('action')
      .where('user_id', '=', max.userId)
      .execute();
    expect(rows.map((row) => row.action)).toContain('api_key.rotated');
  });

  test('is stored as a hash and encrypted, and its use is recorded', async () => {
    const nia = await server.signUp('Nia');
    const row = await server.services.db
      .selectFrom('api_keys')
      .selectAll()
      .where('user_id', '=', nia.userId)
      .executeTakeFirstOrThrow();
    expect(Object.values(row).map(String).join()).not.toContain(nia.apiKey);
    expect(row.encrypted?.includes(nia.apiKey)).toBe(false);
    await expect
      .poll(async () => {
        const [used] = await server.services.db
          .selectFrom('api_keys')
          .select('last_used_at')
          .where('user_id', '=', nia.userId)
          .execute();
        return used?.last_used_at;
      })
      .toBeInstanceOf(Date);
  });

  test('also works as a Bearer token', async () => {
    const oli = await server.signUp('Oli');
    const me = await server.request(getMe, {}, { headers: { authorization: `Bearer ${oli.apiKey}` } });
    expect(me.id).toBe(oli.userId);
  });
});
