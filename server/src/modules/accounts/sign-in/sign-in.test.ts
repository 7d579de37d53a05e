import { getApiKey, getMe, getSignInMethods } from '@bakehouse/contract/accounts';
import { getMigrations } from 'better-auth/db/migration';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createLog } from '../../../platform/log.ts';
import { authClient, bodyOf, cookieOf, password } from '../../../testing/auth-client.ts';
import { type TestServer, testServer } from '../../../testing/test-server.ts';
import { deleteExpiredJob } from '../jobs/delete-expired.ts';
import { makeOperator } from '../users.ts';
import { createAuth } from './create-auth.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ config: { operators: ['boss@example.com'] } });
});

const post: ReturnType<typeof authClient>['post'] = (...call) => authClient(server).post(...call);
const keyOf: ReturnType<typeof authClient>['keyOf'] = (response) => authClient(server).keyOf(response);

describe('sign-up', () => {
  test('returns a session, a working key, and a username from the email address', async () => {
    const response = await post('/sign-up/email', {
      name: ' Ada Lovelace ',
      email: 'Ada@Example.com',
      password,
    });
    expect(response.status).toBe(200);
    const [cookie] = response.headers.getSetCookie();
    expect(cookie).toMatch(/HttpOnly/i);
    expect(cookie).toMatch(/SameSite=Lax/i);

    const me = await server.request(getMe, {}, { as: { apiKey: await keyOf(response) } });
    expect(me).toMatchObject({
      name: 'Ada Lovelace',
      username: 'ada',
      email: 'ada@example.com',
      image_url: null,
      is_operator: false,
      is_returning: false,
    });
    expect(me.onboarding).toEqual({
      onboarding_completed: false,
      steps: {
        create_dataset: { completed: false },
        create_model: { completed: false },
        fine_tune_model: { completed: false },
      },
      dismissed: false,
    });
  });

  test('appends a number to a taken username, also for concurrent sign-ups', async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        post('/sign-up/email', { name: 'Eve', email: `eve@host-${at}.com`, password }),
      ),
    );
    const names = await Promise.all(
      responses.map(async (response) => (await bodyOf(response)).user.username),
    );
    expect(names.sort()).toEqual(['eve', 'eve-2', 'eve-3', 'eve-4', 'eve-5', 'eve-6', 'eve-7', 'eve-8']);
  });

  test.each([
    ['.+@example.com', 'user'],
    ['a@example.com', 'a00'],
    ['Jürgen.Müller@example.com', 'jurgen-muller'],
    ['x.very.long.name.that.goes.on.and.on@example.com', 'x-very-long-name-that-go'],
  ])('derives a username from %s', async (email, username) => {
    const picked = await sql<{ username: string }>`
      insert into users (id, name, email) values (${email}, 'x', lower(${email})) returning username`.execute(
      server.services.db,
    );
    expect(picked.rows[0]?.username).toBe(username);
  });

  test('accepts a chosen username in lower case, and rejects it for a second user', async () => {
    const first = await post('/sign-up/email', {
      name: 'Bob',
      username: 'The_Bob',
      email: 'bob@example.com',
      password,
    });
    expect((await bodyOf(first)).user.username).toBe('the_bob');
    const second = await post('/sign-up/email', {
      name: 'Bob',
      username: 'the_bob',
      email: 'bob2@example.com',
      password,
    });
    expect(second.status).toBe(422);
    expect((await bodyOf(second)).error.message).toBe('This username is taken');
  });

  test.each([
    [{ username: 'ab' }, 'Username must have 3 to 30 characters: a-z, 0-9, - and _'],
    [{ username: 'a b c' }, 'Username must have 3 to 30 characters: a-z, 0-9, - and _'],
    [{ name: '  ' }, 'Name is required'],
    [{ email: 'nobody' }, 'Enter a valid email address'],
    [{ password: 'short' }, 'Password must have at least 8 characters'],
  ])('rejects %o', async (wrong, message) => {
    const response = await post('/sign-up/email', {
      name: 'Carl',
      email: 'carl@example.com',
      password,
      ...wrong,
    });
    expect(response.status).toBe(400);
    expect((await bodyOf(response)).error.message).toBe(message);
  });

  test('rejects an email address that already has an account', async () => {
    await post('/sign-up/email', { name: 'Dan', email: 'dan@example.com', password });
    const again = await post('/sign-up/email', { name: 'Dan', email: 'DAN@example.com', password });
    expect(again.status).toBe(422);
  });

  test('never creates an operator', async () => {
    const response = await post('/sign-up/email', { name: 'Boss', email: 'Boss@Example.com', password });
    expect(response.status).toBe(403);
    expect((await bodyOf(response)).error.message).toMatch(/Operator accounts are created on the server/);
  });

  test('interrupted before the second transaction is completed by the next session', async () => {
    const response = await post('/sign-up/email', { name: 'Finn', email: 'finn@example.com', password });
    const { user } = await bodyOf(response);
    await server.services.db.deleteFrom('api_keys').where('user_id', '=', user.id).execute();

    const keys = await Promise.all([keyOf(response), keyOf(response), keyOf(response)]);
    expect(new Set(keys).size).toBe(1);
    await server.request(getMe, {}, { as: { apiKey: keys[0] ?? '' } });
  });
});

describe('an operator', () => {
  const signIn = (email: string, secret: string) => post('/sign-in/email', { email, password: secret });

  test('is created on the server, with a new password each time', async () => {
    const first = await makeOperator(server.services, { email: 'Boss@Example.com' });
    const response = await signIn('boss@example.com', first.password);
    const apiKey = await keyOf(response);
    expect((await server.request(getMe, {}, { as: { apiKey } })).is_operator).toBe(true);

    const second = await makeOperator(server.services, { email: 'boss@example.com' });
    expect((await signIn('boss@example.com', first.password)).status).toBe(401);
    expect((await signIn('boss@example.com', second.password)).status).toBe(200);
  });

  test("takes over an account that a stranger created with the address before it became an operator's", async () => {
    const { operators } = server.services.config;
    const squatted = await post('/sign-up/email', { name: 'Eve', email: 'later@example.com', password });
    const apiKey = await keyOf(squatted);
    operators.push('later@example.com');
    expect((await server.request(getMe, {}, { as: { apiKey } })).is_operator).toBe(false);

    const made = await makeOperator(server.services, { email: 'later@example.com' });
    // Another process made the operator, so this server learns of it by a notification.
    await vi.waitFor(() =>
      expect(server.request(getMe, {}, { as: { apiKey } })).rejects.toMatchObject({ status: 401 }),
    );
    await expect(keyOf(squatted)).rejects.toMatchObject({ status: 401 });
    expect((await signIn('later@example.com', password)).status).toBe(401);
    const own = await keyOf(await signIn('later@example.com', made.password));
    expect((await server.request(getMe, {}, { as: { apiKey: own } })).is_operator).toBe(true);
  });

  test('must be listed in the settings', async () => {
    await expect(makeOperator(server.services, { email: 'eve@example.com' })).rejects.toMatchObject({
      publicMessage:
        'BAKEHOUSE_OPERATORS does not name eve@example.com. Set it in .env, which the server and this command both read, and restart the server',
    });
  });
});

describe('sign-in and sign-out', () => {
  test('with the right password creates a session; sign-out ends it', async () => {
    await post('/sign-up/email', { name: 'Gil', email: 'gil@example.com', password });
    const response = await post('/sign-in/email', { email: 'gil@example.com', password });
    expect(response.status).toBe(200);
    const cookie = cookieOf(response);
    const { user } = await bodyOf(response);
    await server.request(getApiKey, { query: { user_id: user.id } }, { headers: { cookie } });

    const out = await fetch(`${server.url}/api/auth/sign-out`, {
      method: 'POST',
      headers: { origin: server.url, cookie },
    });
    expect(out.status).toBe(200);
    await expect(
      server.request(getApiKey, { query: { user_id: user.id } }, { headers: { cookie } }),
    ).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
  });

  test('return the same error for a wrong password and for an unknown address', async () => {
    await post('/sign-up/email', { name: 'Hal', email: 'hal@example.com', password });
    const wrong = await post('/sign-in/email', { email: 'hal@example.com', password: 'wrong password' });
    const unknown = await post('/sign-in/email', { email: 'nobody@example.com', password });
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    const said = async (response: Response) => ({ ...(await bodyOf(response)).error, request_id: '' });
    expect(await said(wrong)).toEqual(await said(unknown));
    expect(cookieOf(wrong)).toBe('');
  });

  test('are recorded in the audit log, which cannot be changed', async () => {
    const { userId } = await server.signUp('Ida');
    const rows = await server.services.db
      .selectFrom('audit_log')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('id')
      .execute();
    expect(rows.map((row) => row.action).sort()).toEqual(['session.created', 'user.created']);
    await expect(sql`delete from audit_log`.execute(server.services.db)).rejects.toThrow('append-only');
  });

  test.each([
    ['JSON with another content type', 'xapplication/json; as="application/x-www-form-urlencoded"', 415],
    ['a form', 'application/x-www-form-urlencoded', 415],
    ['broken JSON', 'application/json', 400],
  ])('sent as %s are rejected', async (_what, type, status) => {
    const response = await fetch(`${server.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': type, origin: server.url },
      body: 'email=ada%40example.com&password=correct',
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(/JSON/) } });
  });

  test('are rejected if a text cannot be stored in the database, with the name of the field', async () => {
    const form = { name: 'a\0b', email: 'nul@example.com', password };
    const response = await post('/sign-up/email', form);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', param: 'name' } });
    expect((await fetch(`${server.url}/api/auth/reset-password/a%00b?callbackURL=/`)).status).toBe(400);
  });

  test('can be closed to strangers by the settings', async () => {
    const closed = await testServer({ config: { signUp: false } });
    const response = await fetch(`${closed.url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: closed.url },
      body: JSON.stringify({ name: 'Jo', email: 'jo@example.com', password }),
    });
    expect(response.status).toBe(400);
  });

  test('list the configured methods and redirect to their providers', async () => {
    expect(await server.request(getSignInMethods, {})).toEqual({
      methods: ['password'],
      sends_mail: false,
      referral_bonus: '125',
    });
    const pair = { clientId: 'our-id', clientSecret: 'our-secret' };
    const social = await testServer({ config: { github: pair, google: pair } });
    expect(await social.request(getSignInMethods, {})).toEqual({
      methods: ['password', 'github', 'google'],
      sends_mail: false,
      referral_bonus: '125',
    });
    const response = await fetch(`${social.url}/api/auth/sign-in/social`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: social.url },
      body: JSON.stringify({ provider: 'github', callbackURL: '/dashboard' }),
    });
    const { url } = (await response.json()) as { url: string };
    expect(url).toMatch(/^https:\/\/github\.com\/login\/oauth\/authorize\?.*client_id=our-id/);
  });

  test('delete expired rows', async () => {
    const { userId } = await server.signUp('Old');
    const { db } = server.services;
    await db
      .updateTable('sessions')
      .set({ expires_at: new Date(0) })
      .where('user_id', '=', userId)
      .execute();
    await deleteExpiredJob.run(server.services, {}, AbortSignal.timeout(10_000));
    const left = await db.selectFrom('sessions').select('user_id').execute();
    expect(left.map((row) => row.user_id)).not.toContain(userId);
    expect(left.length).toBeGreaterThan(0);
  });
});

describe('a profile', () => {
  test('can change its name, but not its username', async () => {
    const pia = await server.signUp('Pia');
    expect((await post('/update-user', { name: 'Pia P.' }, { cookie: pia.cookie })).status).toBe(200);
    expect((await server.request(getMe, {}, { as: pia })).name).toBe('Pia P.');
    const refused = await post('/update-user', { username: 'somebody' }, { cookie: pia.cookie });
    expect((await bodyOf(refused)).error.message).toBe('A username cannot be changed');
    expect((await post('/update-user', { name: ' ' }, { cookie: pia.cookie })).status).toBe(400);
    expect(
      (await post('/update-user', { image: 'javascript:alert(1)' }, { cookie: pia.cookie })).status,
    ).toBe(400);
    expect(
      (await post('/update-user', { image: 'data:image/png;base64,iVBORw0KGgoA' }, { cookie: pia.cookie }))
        .status,
    ).toBe(200);
  });

  test('ends all other sessions after a password change, which is recorded', async () => {
    const sam = await server.signUp('Sam');
    const change = (currentPassword: string) =>
      fetch(`${server.url}/api/auth/change-password`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: server.url, cookie: sam.cookie },
        // The server ends the other sessions even if the client does not request it.
        body: JSON.stringify({ currentPassword, newPassword: 'a second good password' }),
      });
    expect((await change('not this one')).status).toBe(400);
    expect((await change(password)).status).toBe(200);
    expect((await post('/sign-in/email', { email: sam.email, password })).status).toBe(401);
    await expect(
      server.request(getApiKey, { query: { user_id: sam.userId } }, { headers: { cookie: sam.cookie } }),
    ).rejects.toMatchObject({ status: 401 });
    const changes = await server.services.db
      .selectFrom('audit_log')
      .select('action')
      .where('user_id', '=', sam.userId)
      .where('action', '=', 'password.changed')
      .execute();
    expect(changes).toHaveLength(1);
  });

  test('gets a new password with the link, and all sessions end', async () => {
    const rae = await server.signUp('Rae');
    expect(
      (await post('/request-password-reset', { email: rae.email, redirectTo: '/reset-password' })).status,
    ).toBe(200);
    const { identifier } = await server.services.db
      .selectFrom('verifications')
      .select('identifier')
      .where('value', '=', rae.userId)
      .executeTakeFirstOrThrow();
    const token = identifier.replace('reset-password:', '');
    expect((await post('/reset-password', { newPassword: 'another good password', token })).status).toBe(200);
    expect(
      (await post('/sign-in/email', { email: rae.email, password: 'another good password' })).status,
    ).toBe(200);
    await expect(
      server.request(getApiKey, { query: { user_id: rae.userId } }, { headers: { cookie: rae.cookie } }),
    ).rejects.toMatchObject({ status: 401 });
  });
});

test('returns the common error format for a path that the library does not know', async () => {
  const response = await post('/nonsense', {});
  expect(response.status).toBe(404);
  expect((await bodyOf(response)).error.code).toBe('not_found');
});

test("our tables match the sign-in library's schema", async () => {
  const { options } = createAuth(server.services, []);
  const { toBeCreated, toBeAdded } = await getMigrations(options);
  expect(toBeCreated).toEqual([]);
  expect(toBeAdded).toEqual([]);
});

test('a rejected sign-in is not logged as a warning', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog(
    { logLevel: 'info', logFormat: 'json' },
    { destination: { write: (line) => void lines.push(JSON.parse(line)) } },
  );
  const { api } = createAuth({ ...server.services, log }, []);
  await expect(api.signInEmail({ body: { email: 'nobody@example.com', password } })).rejects.toThrow();
  expect(lines).toEqual([
    { time: expect.any(String), level: 'info', part: 'auth', msg: 'Sign-in: User not found' },
  ]);
});
