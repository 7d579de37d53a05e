import { getApiKey, getMe } from '@bakehouse/contract/accounts';
import { sql } from 'kysely';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { authClient, cookieOf, password } from '../../../testing/auth-client.ts';
import { mailServer } from '../../../testing/servers/mail-server.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { type TestServer, testServer } from '../../../testing/test-server.ts';
import { passwords } from './hash-passwords.ts';

let server: TestServer;
let mailbox: Awaited<ReturnType<typeof mailServer>>;
beforeAll(async () => {
  mailbox = await mailServer();
  server = await testServer({ config: { mail: mailbox.settings }, roles: ['web', 'worker'] });
});

const post: ReturnType<typeof authClient>['post'] = (...call) => authClient(server).post(...call);
const signUp = (email: string) => post('/sign-up/email', { name: 'Ada', email, password });

/** Returns the link in the newest mail with this subject to an address, once it arrives. */
async function mailedLink(to: string, subject: string): Promise<URL> {
  const mail = await vi.waitFor(
    () => {
      const found = mailbox.mails.findLast((one) => one.to[0] === to && one.head.includes(subject));
      if (!found) throw new Error(`no mail '${subject}' to ${to} yet`);
      return found;
    },
    { interval: 50 },
  );
  return new URL(mail.body.match(/^https?:\S+/m)?.[0] ?? '');
}

const confirm = (link: URL, cookie: string) =>
  fetch(`${server.url}/api/auth/verify-email${link.search}`, { headers: { cookie } });

async function isVerified(response: Response): Promise<boolean> {
  const { user } = (await response.clone().json()) as { user: { id: string } };
  const headers = { cookie: cookieOf(response) };
  const { data: apiKey } = await server.request(getApiKey, { query: { user_id: user.id } }, { headers });
  return (await server.request(getMe, {}, { as: { apiKey } })).email_verified;
}

test('a forgotten password is replaced with a mailed link', async () => {
  await signUp('forgetful@example.com');
  await post('/request-password-reset', { email: 'forgetful@example.com' });
  const link = await mailedLink('forgetful@example.com', 'Choose a new Bakehouse password');
  const landed = await fetch(server.url + link.pathname + link.search, { redirect: 'manual' });
  const token = new URL(landed.headers.get('location') ?? '', server.url).searchParams.get('token');
  const newPassword = 'another good password';
  expect((await post('/reset-password', { newPassword, token })).status).toBe(200);
  const again = await post('/sign-in/email', { email: 'forgetful@example.com', password: newPassword });
  expect(again.status).toBe(200);
});

test('an address is confirmed by the mailed link, only in a browser of its account', async () => {
  const ada = await signUp('ada@example.com');
  const eve = await signUp('eve@example.com');
  expect(await isVerified(ada)).toBe(false);
  const link = await mailedLink('ada@example.com', 'Confirm your email address');
  expect(link.pathname).toBe('/verify-email');

  expect((await confirm(link, '')).status).toBe(401);
  expect((await confirm(link, cookieOf(eve))).status).toBe(403);
  expect(await isVerified(ada)).toBe(false);
  expect((await confirm(link, cookieOf(ada))).status).toBe(200);
  expect(await isVerified(ada)).toBe(true);
  expect(await isVerified(eve)).toBe(false);
});

test('a forged link confirms nothing', async () => {
  const finn = await signUp('finn@example.com');
  const link = await mailedLink('finn@example.com', 'Confirm your email address');
  const [head, payload] = (link.searchParams.get('token') ?? '').split('.');
  link.searchParams.set('token', `${head}.${payload}.AAAA`);
  expect((await confirm(link, cookieOf(finn))).status).toBe(401);
  expect(await isVerified(finn)).toBe(false);
});

test('another link can be requested until the address is confirmed', async () => {
  const gwen = await signUp('gwen@example.com');
  const headers = { cookie: cookieOf(gwen) };
  await mailedLink('gwen@example.com', 'Confirm your email address');
  mailbox.mails.length = 0;
  const ask = () => post('/send-verification-email', { email: 'gwen@example.com' }, headers);
  expect((await post('/send-verification-email', { email: 'gwen@example.com' })).status).toBe(401);
  expect((await ask()).status).toBe(200);
  await confirm(await mailedLink('gwen@example.com', 'Confirm your email address'), headers.cookie);
  expect((await ask()).status).toBe(400);
});

test('limits mails of one kind to three per account and hour, even from different requesters', async () => {
  const email = 'victim@example.com';
  const cookie = cookieOf(await signUp(email));
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post('/request-password-reset', { email })),
  );
  // The response does not reveal whether the account exists.
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  for (let asked = 0; asked < 5; asked += 1) {
    await post('/send-verification-email', { email }, { cookie });
  }
  const { rows } = await sql<{ action: string; mails: number }>`
    select action, count(*)::int as mails from audit_log join users on users.id = user_id
    where email = ${email} and action like '%requested' group by 1 order by 1`.execute(server.services.db);
  expect(rows).toEqual([
    { action: 'address.confirmation_requested', mails: 3 },
    { action: 'password.reset_requested', mails: 3 },
  ]);
  await vi.waitFor(() => expect(mailbox.mails.filter(({ to }) => to[0] === email)).toHaveLength(6));
});

test('the link for a new password points to this server, even if the caller sends another redirect', async () => {
  const email = 'aimed-at@example.com';
  await signUp(email);
  await post('/request-password-reset', { email, redirectTo: `${server.url}/elsewhere` });
  const link = await mailedLink(email, 'Choose a new Bakehouse password');
  expect(link.searchParams.get('callbackURL')).toBe('/?form=new-password');
});

test('a sign-up uses one connection at a time, and none while it hashes the password', async () => {
  const database = await testDatabase();
  const { hash } = passwords;
  const held: number[] = [];
  vi.spyOn(passwords, 'hash').mockImplementation(async (plain) => {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`.execute(database.db);
    held.push(rows[0]?.count ?? 0);
    return hash(plain);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const narrow = await testServer({ config: { mail: mailbox.settings, databaseConnections: 1 }, database });
  const answer = await authClient(narrow).post('/sign-up/email', {
    name: 'Nell',
    email: 'nell@example.com',
    password,
  });
  // A call that needs a second connection would fail after 15 seconds.
  expect(answer.status).toBe(200);
  expect(held).toEqual([0]);
  const mails = await database.db
    .selectFrom('audit_log')
    .select('action')
    .where('action', '=', 'address.confirmation_requested')
    .execute();
  expect(mails).toHaveLength(1);
});
