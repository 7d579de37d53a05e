import { endOtherSessions, endSession, listSessions } from '@bakehouse/contract/profile';
import { beforeAll, describe, expect, test } from 'vitest';
import { authClient, cookieOf, password } from '../../../testing/auth-client.ts';
import { type TestServer, testServer } from '../../../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Returns the cookies of `count` browsers in which one user is signed in. */
async function browsersOf(email: string, count: number): Promise<string[]> {
  const { post } = authClient(server);
  await post('/sign-up/email', { name: 'Ada', email, password });
  const { db } = server.services;
  await db
    .deleteFrom('sessions')
    .where('user_id', '=', await idOf(email))
    .execute();
  const cookies: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const answer = await post('/sign-in/email', { email, password }, { 'user-agent': FIREFOX });
    cookies.push(cookieOf(answer));
  }
  return cookies;
}

async function idOf(email: string): Promise<string> {
  const { db } = server.services;
  const user = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow();
  return user.id;
}

const sessionsOf = async (cookie = '') =>
  (await server.request(listSessions, {}, { headers: { cookie } })).sessions;

describe('sessions', () => {
  test('are listed with browser and address, and with the current one marked', async () => {
    const [first, second] = await browsersOf('ada@example.com', 2);
    const seen = await sessionsOf(first);
    expect(seen).toHaveLength(2);
    for (const one of seen) expect(one).toMatchObject({ user_agent: FIREFOX, address: '127.0.0.1' });
    const current = seen.find((one) => one.is_current)?.id;
    expect(seen.filter((one) => one.is_current)).toHaveLength(1);
    expect((await sessionsOf(second)).find((one) => one.is_current)?.id).not.toBe(current);
  });

  test('end one by one, and only on request of their own user', async () => {
    const [first, second] = await browsersOf('bob@example.com', 2);
    const [eve] = await browsersOf('eve@example.com', 1);
    const other = (await sessionsOf(first)).find((one) => !one.is_current)?.id ?? '';
    const end = (cookie = '') =>
      server.request(endSession, { params: { sessionId: other } }, { headers: { cookie } });
    await expect(end(eve)).rejects.toMatchObject({ status: 404 });
    expect(await sessionsOf(second)).toHaveLength(2);
    await end(first);
    await expect(sessionsOf(second)).rejects.toMatchObject({ status: 401 });
    expect(await sessionsOf(first)).toHaveLength(1);
    await expect(end(first)).rejects.toMatchObject({ status: 404 });
  });

  test('end all except the current one, and none of other users', async () => {
    const [first, second, third] = await browsersOf('cora@example.com', 3);
    const [dan] = await browsersOf('dan@example.com', 1);
    expect(await server.request(endOtherSessions, {}, { headers: { cookie: second ?? '' } })).toEqual({
      ended: 2,
    });
    await expect(sessionsOf(first)).rejects.toMatchObject({ status: 401 });
    await expect(sessionsOf(third)).rejects.toMatchObject({ status: 401 });
    expect(await sessionsOf(second)).toHaveLength(1);
    expect(await sessionsOf(dan)).toHaveLength(1);
  });
});

describe('a profile', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex').toString('base64');
  let cookie = '';
  beforeAll(async () => {
    [cookie = ''] = await browsersOf('fay@example.com', 1);
  });
  const update = (body: object) => authClient(server).post('/update-user', body, { cookie });

  test('accepts a name and a picture', async () => {
    expect((await update({ name: 'Fay Ray', image: `data:image/png;base64,${png}` })).status).toBe(200);
    const { db } = server.services;
    const row = await db
      .selectFrom('users')
      .select(['name', 'image'])
      .where('email', '=', 'fay@example.com')
      .executeTakeFirst();
    expect(row).toEqual({ name: 'Fay Ray', image: `data:image/png;base64,${png}` });
    expect((await update({ image: null })).status).toBe(200);
  });

  test.each([
    ['bytes of another type', `data:image/jpeg;base64,${png}`],
    ['a page', `data:image/png;base64,${Buffer.from('<script>alert(1)</script>').toString('base64')}`],
    ['a drawing that may contain scripts', `data:image/svg+xml;base64,${png}`],
    ['a file that is too large', `data:image/png;base64,${png}${'A'.repeat(300_000)}`],
  ])('rejects %s as a picture', async (_what, image) => {
    expect((await update({ image })).status).toBe(400);
  });
});
