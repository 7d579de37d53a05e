import { getApiKey, getMe, getSession } from '@bakehouse/contract/accounts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { authClient, cookieOf, password } from '../../../testing/auth-client.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { untilWaiting } from '../../../testing/test-database.ts';
import { type TestServer, testServer } from '../../../testing/test-server.ts';
import { lockUser } from '../queries.ts';
import { deleteUserSessions } from '../sessions/session-queries.ts';
import { makeOperator } from '../users.ts';
import { passwords } from './hash-passwords.ts';
import { deleteLinkedMethods } from './sign-in-queries.ts';

/*
 * An account belongs to the owner of its email address. This file simulates GitHub: it answers requests to
 * GitHub from `accounts`, and passes all other requests on.
 */

let server: TestServer;
let client: ReturnType<typeof authClient>;
/** Runs after each successful check of a password, which waits for it. */
let afterVerify: () => Promise<void> = async () => undefined;
beforeAll(async () => {
  const { verify } = passwords;
  // Restore only after the whole file, because the library stores the function at its first call.
  onFileEnd(async () => {
    passwords.verify = verify;
  });
  passwords.verify = async (input) => {
    const isRight = await verify(input);
    if (isRight) await afterVerify();
    return isRight;
  };
  const github = { clientId: 'our-id', clientSecret: 'our-secret' };
  server = await testServer({ config: { github, operators: ['boss@example.com', 'chief@example.com'] } });
  client = authClient(server);
});

type GitHubAccount = { id: number; email: string; verified: boolean };

const realFetch = globalThis.fetch;

function playGitHub({ id, email, verified }: GitHubAccount, { isAway = false } = {}): void {
  const answers = new Map<string, object>([
    [
      'https://github.com/login/oauth/access_token',
      { access_token: 'token', token_type: 'bearer', scope: '' },
    ],
    ['https://api.github.com/user', { id, login: 'ada', name: 'Ada', email, avatar_url: '' }],
    ['https://api.github.com/user/emails', [{ email, verified, primary: true }]],
  ]);
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const answer = answers.get(url);
    if (answer && isAway) throw new Error('no route to GitHub');
    return answer ? Response.json(answer) : realFetch(input, init);
  });
  onTestFinished(() => void vi.restoreAllMocks());
}

/** Signs a browser in with GitHub; returns this server's response to the provider's callback. */
async function signInWithGitHub(account: GitHubAccount, at: Pick<TestServer, 'url' | 'request'> = server) {
  playGitHub(account);
  return enterWithGitHub(at);
}

async function enterWithGitHub(at: Pick<TestServer, 'url' | 'request'> = server) {
  const begin = await authClient(at).post('/sign-in/social', {
    provider: 'github',
    callbackURL: '/dashboard',
  });
  const { url } = (await begin.json()) as { url: string };
  const state = new URL(url).searchParams.get('state');
  return fetch(`${at.url}/api/auth/callback/github?code=code&state=${state}`, {
    headers: { cookie: cookieOf(begin) },
    redirect: 'manual',
  });
}

async function userOf(cookie: string): Promise<string | null> {
  return (await server.request(getSession, {}, { headers: { cookie } })).user?.id ?? null;
}

async function keyOf(cookie: string): Promise<string> {
  const userId = (await userOf(cookie)) ?? '';
  return (await server.request(getApiKey, { query: { user_id: userId } }, { headers: { cookie } })).data;
}

const signUp = (email: string) => client.post('/sign-up/email', { name: 'Eve', email, password });
const signIn = (email: string, secret = password) =>
  client.post('/sign-in/email', { email, password: secret });

async function resetLinkOf(userId: string): Promise<string> {
  const { identifier } = await server.services.db
    .selectFrom('verifications')
    .select('identifier')
    .where('value', '=', userId)
    .executeTakeFirstOrThrow();
  return identifier.replace('reset-password:', '');
}

describe('an address that a provider has not verified', () => {
  test('creates no account', async () => {
    const answer = await signInWithGitHub({ id: 1, email: 'new@example.com', verified: false });
    expect(answer.headers.get('location')).toContain('email_not_verified');
    expect(cookieOf(answer)).not.toContain('session_token');
    const { db } = server.services;
    expect(
      await db.selectFrom('users').select('id').where('email', '=', 'new@example.com').execute(),
    ).toEqual([]);
  });

  test('opens no account, of an operator or any other user', async () => {
    await makeOperator(server.services, { email: 'boss@example.com' });
    await signUp('bob@example.com');
    for (const email of ['boss@example.com', 'bob@example.com']) {
      const answer = await signInWithGitHub({ id: 2, email, verified: false });
      expect(answer.headers.get('location')).toContain('error');
      expect(cookieOf(answer)).not.toContain('session_token');
    }
  });
});

test("revokes a stranger's access, also with a linked provider, before the account becomes an operator's", async () => {
  const { db } = server.services;
  const stranger = { id: 3, email: 'chief@example.com', verified: true };
  const before = await signInWithGitHub(stranger);
  const userId = await userOf(cookieOf(before));
  expect(userId).not.toBeNull();
  // Simulates an account from before addresses had to be verified.
  await db.updateTable('users').set({ email_verified: false }).where('id', '=', userId).execute();

  const made = await makeOperator(server.services, { email: stranger.email });
  expect(await userOf(cookieOf(before))).toBeNull();
  const methods = await db
    .selectFrom('sign_in_methods')
    .select('provider_id')
    .where('user_id', '=', userId ?? '')
    .execute();
  expect(methods.map((method) => method.provider_id)).toEqual(['credential']);
  const again = await signInWithGitHub({ ...stranger, verified: false });
  expect(cookieOf(again)).not.toContain('session_token');
  const apiKey = await client.keyOf(await signIn(stranger.email, made.password));
  expect((await server.request(getMe, {}, { as: { apiKey } })).is_operator).toBe(true);
});

test('an account that a provider creates counts towards the sign-up limit, and later sign-ins do not', async () => {
  const config = { github: { clientId: 'our-id', clientSecret: 'our-secret' }, signUpsPerAddress: 2 };
  const limited = await testServer({ config: { ...config, rateLimits: true } });
  const enter = async (id: number) =>
    (await signInWithGitHub({ id, email: `${id}@example.com`, verified: true }, limited)).headers.get(
      'location',
    );
  expect([await enter(1), await enter(2), await enter(1)]).toEqual(Array(3).fill('/dashboard'));
  expect(await enter(3)).toContain('error=rate_limited');
  const users = await limited.services.db.selectFrom('users').select('email').orderBy('email').execute();
  expect(users).toEqual([{ email: '1@example.com' }, { email: '2@example.com' }]);
  const body = { name: 'Eve', email: 'eve@example.com', password };
  expect((await authClient(limited).post('/sign-up/email', body)).status).toBe(429);
});

describe('a squatted address', () => {
  test('goes to its owner after a sign-in with a provider that has verified it, and ends all access of the squatter', async () => {
    const squatted = await signUp('ada@example.com');
    const apiKey = await client.keyOf(squatted);
    await client.post('/request-password-reset', { email: 'ada@example.com', redirectTo: '/' });
    const userId = (await userOf(cookieOf(squatted))) ?? '';
    const token = await resetLinkOf(userId);

    const owner = { id: 4, email: 'ada@example.com', verified: true };
    const cookie = cookieOf(await signInWithGitHub(owner));
    expect(await userOf(cookie)).toBe(userId);

    expect(await userOf(cookieOf(squatted))).toBeNull();
    await expect(server.request(getMe, {}, { as: { apiKey } })).rejects.toMatchObject({ status: 401 });
    expect((await signIn('ada@example.com')).status).toBe(401);
    const reset = await client.post('/reset-password', { newPassword: 'another good password', token });
    expect(reset.status).toBe(400);
    const own = await keyOf(cookie);
    expect((await server.request(getMe, {}, { as: { apiKey: own } })).email).toBe('ada@example.com');
    // The owner's second sign-in ends nothing.
    await signInWithGitHub(owner);
    expect(await keyOf(cookie)).toBe(own);
  });

  test('goes to its owner after a password reset by mail, and ends all access of the squatter', async () => {
    const email = 'cora@example.com';
    const squatted = await signUp(email);
    const apiKey = await client.keyOf(squatted);
    const userId = (await userOf(cookieOf(squatted))) ?? '';
    await server.services.db
      .insertInto('sign_in_methods')
      .values({ id: 'link', user_id: userId, provider_id: 'github', account_id: '99' })
      .execute();
    await client.post('/request-password-reset', { email, redirectTo: '/' });
    const newPassword = 'another good password';
    await client.post('/reset-password', { newPassword, token: await resetLinkOf(userId) });

    expect(await userOf(cookieOf(squatted))).toBeNull();
    await expect(server.request(getMe, {}, { as: { apiKey } })).rejects.toMatchObject({ status: 401 });
    const linked = await signInWithGitHub({ id: 99, email: 'eve@example.com', verified: true });
    expect(await userOf(cookieOf(linked))).not.toBe(userId);
    expect(await userOf(cookieOf(await signIn(email, newPassword)))).toBe(userId);
  });
});

test('a failed reset changes nothing and its link stays valid; a successful reset ends all access of strangers', async () => {
  const email = 'dora@example.com';
  const squatted = await signUp(email);
  const apiKey = await client.keyOf(squatted);
  const userId = (await userOf(cookieOf(squatted))) ?? '';
  await client.post('/request-password-reset', { email, redirectTo: '/' });
  const token = await resetLinkOf(userId);
  const newPassword = 'another good password';
  const reset = async () => (await client.post('/reset-password', { newPassword, token })).status;
  const { db } = server.services;
  await sql`create function refuse_writing() returns trigger language plpgsql as $$
    begin raise exception 'out of order'; end $$`.execute(db);
  onTestFinished(() => void sql`drop function if exists refuse_writing cascade`.execute(db));

  for (const table of ['api_keys', 'sign_in_methods'].map((name) => sql.table(name))) {
    await sql`create trigger out_of_order before update on ${table}
      for each row execute function refuse_writing()`.execute(db);
    expect(await reset()).toBe(500);
    expect(await resetLinkOf(userId)).toBe(token);
    expect(await userOf(cookieOf(squatted))).toBe(userId);
    expect((await signIn(email, newPassword)).status).toBe(401);
    await sql`drop trigger out_of_order on ${table}`.execute(db);
  }

  expect(await reset()).toBe(200);
  expect(await userOf(cookieOf(squatted))).toBeNull();
  await expect(server.request(getMe, {}, { as: { apiKey } })).rejects.toMatchObject({ status: 401 });
  expect((await signIn(email, newPassword)).status).toBe(200);
  expect(await reset()).toBe(400);
});

test('a password reset makes no operator, because the server logs reset links', async () => {
  const { operators } = server.services.config;
  const email = 'next@example.com';
  const squatted = await signUp(email);
  const userId = (await userOf(cookieOf(squatted))) ?? '';
  operators.push(email);
  await client.post('/request-password-reset', { email, redirectTo: '/' });
  const newPassword = 'another good password';
  await client.post('/reset-password', { newPassword, token: await resetLinkOf(userId) });
  const apiKey = await client.keyOf(await signIn(email, newPassword));
  expect((await server.request(getMe, {}, { as: { apiKey } })).is_operator).toBe(false);
});

test('a stranger whose provider is unlinked during the sign-in is not signed in', async () => {
  const { db } = server.services;
  const stranger = { id: 33, email: 'fay@example.com', verified: true };
  const userId = (await userOf(cookieOf(await signInWithGitHub(stranger)))) ?? '';
  const entering = await db.transaction().execute(async (tx) => {
    // The sign-in has read the linked methods. Its session waits for the lock while the owner unlinks them.
    await lockUser(tx, userId);
    const answer = signInWithGitHub(stranger);
    await untilWaiting(db);
    await deleteUserSessions(tx, userId);
    await deleteLinkedMethods(tx, userId);
    return { answer };
  });
  const answer = await entering.answer;
  expect(answer.headers.get('location')).toBe('/?error=sign_in_method_gone');
  expect(await db.selectFrom('sessions').select('id').where('user_id', '=', userId).execute()).toEqual([]);
});

test('logs why a provider failed', async () => {
  const error = vi.spyOn(server.services.log, 'error');
  playGitHub({ id: 34, email: 'gil@example.com', verified: true }, { isAway: true });
  const answer = await enterWithGitHub();
  expect(answer.headers.get('location')).toContain('error=');
  expect(error).toHaveBeenCalledWith(
    expect.objectContaining({
      part: 'auth',
      err: expect.objectContaining({ message: 'no route to GitHub' }),
    }),
    expect.stringMatching(/^Sign-in: ./),
  );
});

describe('a stranger whose old password was verified just before the owner resets it', () => {
  const NEW = 'another good password';

  /**
   * Creates an account whose password the stranger knows. The check of the password in `call` returns only
   * after the owner has reset it.
   */
  async function whileReset(call: (at: { cookie: string; email: string }) => Promise<Response>) {
    const email = `${crypto.randomUUID()}@example.com`;
    const cookie = cookieOf(await signUp(email));
    const userId = (await userOf(cookie)) ?? '';
    await client.post('/request-password-reset', { email, redirectTo: '/' });
    const token = await resetLinkOf(userId);
    const [verified, reset] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    afterVerify = async () => {
      verified.resolve();
      await reset.promise;
    };
    onTestFinished(() => {
      afterVerify = async () => undefined;
    });
    const answer = call({ cookie, email });
    await verified.promise;
    expect((await client.post('/reset-password', { newPassword: NEW, token })).status).toBe(200);
    reset.resolve();
    const { db } = server.services;
    const sessions = async () =>
      (await db.selectFrom('sessions').select('id').where('user_id', '=', userId).execute()).length;
    return { email, answer: await answer, sessions };
  }

  test('is not signed in', async () => {
    const { answer, sessions } = await whileReset(({ email }) => signIn(email));
    expect(answer.status).toBe(401);
    expect(await sessions()).toBe(0);
  });

  test('cannot replace the new password', async () => {
    const { email, answer, sessions } = await whileReset(({ cookie }) =>
      client.post(
        '/change-password',
        { currentPassword: password, newPassword: 'the password of a thief' },
        { cookie },
      ),
    );
    expect(answer.status).toBe(400);
    expect(await sessions()).toBe(0);
    expect((await signIn(email, 'the password of a thief')).status).toBe(401);
    expect((await signIn(email, NEW)).status).toBe(200);
  });
});

describe('a provider that a signed-in user links to the account', () => {
  async function link(cookie: string, account: GitHubAccount): Promise<Response> {
    playGitHub(account);
    const begin = await client.post(
      '/link-social',
      { provider: 'github', callbackURL: '/profile' },
      { cookie },
    );
    const { url } = (await begin.json()) as { url: string };
    const state = new URL(url).searchParams.get('state');
    return fetch(`${server.url}/api/auth/callback/github?code=code&state=${state}`, {
      headers: { cookie: `${cookie}; ${cookieOf(begin)}` },
      redirect: 'manual',
    });
  }

  async function stateOf(email: string) {
    const { db } = server.services;
    const user = await db
      .selectFrom('users')
      .select(['id', 'email_verified'])
      .where('email', '=', email)
      .executeTakeFirstOrThrow();
    const methods = await db
      .selectFrom('sign_in_methods')
      .select(['id', 'provider_id'])
      .where('user_id', '=', user.id)
      .orderBy('provider_id')
      .execute();
    return { verified: user.email_verified, methods };
  }

  test('proves the address, and ends nothing of the user', async () => {
    const email = 'gwen@example.com';
    const signedUp = await signUp(email);
    const apiKey = await client.keyOf(signedUp);
    await link(cookieOf(signedUp), { id: 7, email, verified: true });
    const { verified, methods } = await stateOf(email);
    expect(verified).toBe(true);
    expect(methods.map((method) => method.provider_id)).toEqual(['credential', 'github']);
    expect(await userOf(cookieOf(signedUp))).not.toBeNull();
    expect((await server.request(getMe, {}, { as: { apiKey } })).email).toBe(email);

    const unlink = (accountId = '') =>
      client.post('/unlink-account', { accountId }, { cookie: cookieOf(signedUp) });
    expect((await unlink(methods[1]?.id)).status).toBe(200);
    // The last sign-in method cannot be unlinked.
    expect((await unlink(methods[0]?.id)).status).toBe(400);
    expect((await stateOf(email)).methods).toHaveLength(1);
  });

  test("is not linked if its address differs from the account's", async () => {
    const email = 'victim@example.com';
    const squatted = await signUp(email);
    const answer = await link(cookieOf(squatted), { id: 8, email: 'mallory@example.com', verified: true });
    expect(answer.headers.get('location')).toContain('error');
    const { verified, methods } = await stateOf(email);
    expect(verified).toBe(false);
    expect(methods).toHaveLength(1);
  });
});
