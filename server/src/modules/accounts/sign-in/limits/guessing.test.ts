import net from 'node:net';
import { text } from 'node:stream/consumers';
import { deleteAccount } from '@bakehouse/contract/privacy';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { authClient, bodyOf, cookieOf, password } from '../../../../testing/auth-client.ts';
import { type TestServer, testServer } from '../../../../testing/test-server.ts';

/** Starts a separate server and sets all counts to zero. */
async function limitedServer(): Promise<TestServer & ReturnType<typeof authClient>> {
  const server = await testServer({ config: { rateLimits: true, rateLimitPerMinute: 0 } });
  await sql`truncate rate_counts`.execute(server.services.db);
  return { ...server, ...authClient(server) };
}

describe('sign-ins are limited', () => {
  type Guess = { from: string; email: string; times: number; cookie?: string; secret?: string };

  async function guessing() {
    const { post, ...server } = await limitedServer();
    const guess = async ({ from, email, times, cookie, secret = 'not the right one' }: Guess) => {
      const statuses: number[] = [];
      for (let i = 0; i < times; i += 1) {
        const headers = { 'x-forwarded-for': from, ...(cookie && { cookie }) };
        statuses.push((await post('/sign-in/email', { email, password: secret }, headers)).status);
      }
      return statuses;
    };
    return { ...server, post, guess };
  }
  const refused = (times: number) => Array.from({ length: times }, () => 401);

  test('to 10 per minute and address', async () => {
    const { post } = await limitedServer();
    const attempts = [];
    for (let i = 0; i < 11; i += 1)
      attempts.push(await post('/sign-in/email', { email: 'nobody@example.com', password }));
    expect(attempts.slice(0, 10).every((response) => response.status === 401)).toBe(true);
    expect(attempts[10]?.status).toBe(429);
    expect((await bodyOf(attempts[10])).error.code).toBe('rate_limited');
    expect(attempts[0]?.headers.get('ratelimit-limit')).toBe('10');
  });

  test('per network, for all of its addresses together', async () => {
    const { guess } = await guessing();
    expect(await guess({ from: '2001:db8:1:2::a', email: 'one@example.com', times: 5 })).toEqual(refused(5));
    expect(await guess({ from: '2001:db8:1:2:ffff::b', email: 'two@example.com', times: 6 })).toEqual([
      ...refused(5),
      429,
    ]);
    expect(await guess({ from: '2001:db8:1:3::a', email: 'one@example.com', times: 1 })).toEqual([401]);
  });

  test('so that a single client address cannot use up the limit of an account', async () => {
    const { guess, post } = await guessing();
    const email = 'eve@example.com';
    await post('/sign-up/email', { name: 'Eve', email, password }, { 'x-forwarded-for': '198.51.100.9' });
    const from = '203.0.113.90';
    expect(await guess({ from, email, times: 40 })).toEqual([...refused(10), ...Array(30).fill(429)]);
    expect(await guess({ from: '198.51.100.8', email, times: 1, secret: password })).toEqual([200]);
  });

  test('per account across networks, except for a browser that its owner has used', async () => {
    const { guess, post } = await guessing();
    const email = 'ada@example.com';
    const home = { 'x-forwarded-for': '198.51.100.7' };
    const cookie = cookieOf(await post('/sign-up/email', { name: 'Ada', email, password }, home));
    expect(cookie).toContain('bakehouse.device=');
    for (const at of [1, 2, 3]) {
      const spelling = at === 2 ? 'Ada@Example.com' : email;
      expect(await guess({ from: `203.0.113.${at}`, email: spelling, times: 10 })).toEqual(refused(10));
    }
    expect(await guess({ from: '203.0.113.4', email, times: 1, secret: password })).toEqual([429]);
    expect(await guess({ from: '203.0.113.4', email: 'bob@example.com', times: 1 })).toEqual([401]);

    // The known browser works even from the network that sends the guesses.
    const own = { from: '203.0.113.1', email, cookie };
    expect(await guess({ ...own, times: 1, secret: password })).toEqual([200]);
    expect(await guess({ ...own, times: 10 })).toEqual([...refused(9), 429]);
    // The cookie is valid only for its own email address, and cannot be forged.
    expect(await guess({ ...own, email: 'bob@example.com', times: 1 })).toEqual([429]);
    const forged = 'bakehouse.device=AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    expect(await guess({ from: '203.0.113.5', email, times: 1, cookie: forged })).toEqual([429]);
  });
});

describe('passwords sent to delete the account', () => {
  test('share the limit of sign-ins, from an unknown browser and from a known one', async () => {
    const server = await limitedServer();
    const { post } = server;
    const email = 'finn@example.com';
    const home = { 'x-forwarded-for': '198.51.100.7' };
    const cookies = cookieOf(await post('/sign-up/email', { name: 'Finn', email, password }, home)).split(
      '; ',
    );
    const session = cookies.filter((cookie) => !cookie.startsWith('bakehouse.device=')).join('; ');
    const guess = async (from: string, cookie?: string) =>
      (
        await post(
          '/sign-in/email',
          { email, password: 'not the right one' },
          { 'x-forwarded-for': from, ...(cookie && { cookie }) },
        )
      ).status;
    const remove = async (from: string, cookie: string) => {
      const headers = { 'x-forwarded-for': from, cookie };
      return (await server.send(deleteAccount, { body: { password: 'not the right one' } }, { headers }))
        .status;
    };
    const strange = '203.0.113.1';
    expect([await remove(strange, session), await remove(strange, session)]).toEqual([400, 400]);
    for (let at = 0; at < 8; at += 1) expect(await guess(strange)).toBe(401);
    expect(await guess(strange)).toBe(429);
    expect(await remove(strange, session)).toBe(429);

    const own = cookies.join('; ');
    for (let at = 0; at < 9; at += 1) expect(await guess(strange, own)).toBe(401);
    expect(await remove(strange, own)).toBe(400);
    expect(await guess(strange, own)).toBe(429);
  });

  test('share the queue of hashes, which rejects calls when it is full', async () => {
    const server = await testServer();
    const users = await Promise.all(Array.from({ length: 3 }, () => server.signUp()));
    const calls = users.flatMap(({ cookie, userId }) =>
      Array.from({ length: 9 }, (_, number) =>
        server.send(deleteAccount, { body: { password: `${number} of ${userId}` } }, { headers: { cookie } }),
      ),
    );
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    // Up to 20 calls of one client address wait.
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
    expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(20);
  });
});

describe('other ways to test a password', () => {
  let server: Awaited<ReturnType<typeof limitedServer>>;
  beforeAll(async () => {
    server = await limitedServer();
  });

  test.each(['/verify-password', '/delete-user', '/change-email', '/get-access-token', '/revoke-sessions'])(
    "the library's %s is not exposed",
    async (path) => {
      const { cookie } = await server.signUp();
      expect((await server.post(path, { password }, { cookie })).status).toBe(404);
    },
  );

  test('limits a user to 5 tests of their own password per minute, from any client address', async () => {
    const { cookie } = await server.signUp();
    const statuses = [];
    for (let at = 0; at < 6; at += 1) {
      const body = { currentPassword: 'not the right one', newPassword: 'a second good password' };
      const headers = { cookie, 'x-forwarded-for': `203.0.113.${at}` };
      statuses.push((await server.post('/change-password', body, headers)).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429]);
  });

  test('hashes nothing without a session', async () => {
    const body = { currentPassword: password, newPassword: 'a second good password' };
    expect((await server.post('/change-password', body)).status).toBe(401);
  });

  test('rejects large bodies unread, and accepts a picture only with a session', async () => {
    const large = { email: 'ada@example.com', password: 'x'.repeat(20_000) };
    expect((await server.post('/sign-in/email', large)).status).toBe(413);
    const image = `data:image/png;base64,iVBORw0KGgoA${'A'.repeat(240_000)}`;
    expect((await server.post('/update-user', { image })).status).toBe(401);
    const { cookie } = await server.signUp();
    expect((await server.post('/update-user', { image }, { cookie })).status).toBe(200);
  });

  test.each([
    ['deep JSON', '/sign-in/email', { body: `{"a":${'['.repeat(7_000)}${']'.repeat(7_000)}}` }],
    ['JSON that is not an object', '/sign-in/email', { body: '[1,2]' }],
  ])('returns 400 for %s', async (_what, path, init) => {
    const response = await fetch(`${server.url}/api/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url },
      ...init,
    });
    expect(response.status).toBe(400);
  });

  test('returns 400 for an invalid Host', async () => {
    const { port } = new URL(server.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    socket.write('GET /api/auth/error HTTP/1.1\r\nHost: a b<>\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each(['password', 'Password1', 'iloveyou', 'qwertyuiop', 'aaaaaaaa', '        '])(
    "rejects the password '%s' as too common",
    async (common) => {
      const response = await server.post('/sign-up/email', {
        name: 'Zoe',
        email: 'zoe@example.com',
        password: common,
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'password_too_common' } });
      const { cookie } = await server.signUp();
      const changed = await server.post(
        '/change-password',
        { currentPassword: password, newPassword: common },
        { cookie },
      );
      expect(await changed.json()).toMatchObject({ error: { code: 'password_too_common' } });
    },
  );
});
