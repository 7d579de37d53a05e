import type { AuditAction } from '@bakehouse/contract/audit';
import {
  endXAuth,
  finishXAuth,
  generateReferral,
  getXAuthStatus,
  getXPostStatus,
  postReferralToX,
  startXAuth,
} from '@bakehouse/contract/referrals';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { purgeUser } from '../../privacy/purge-user.ts';
import { xServer } from '../testing/x-server.ts';
import { claimXPost, findXAccount, findXPost, releaseXPost } from './x-queries.ts';

const clock = fakeClock();
let server: TestServer;
let x: Awaited<ReturnType<typeof xServer>>;

beforeAll(async () => {
  x = await xServer();
  server = await testServer({ clock, config: { x: x.config } });
});
afterAll(() => x.close());

const statusOf = (as: TestUser) => server.request(getXAuthStatus, {}, { as });
const post = (as: TestUser, message: string, more: object = {}) =>
  server.request(postReferralToX, { body: { message, ...more } }, { as });
const consent = async (as: TestUser) => x.book.consent((await server.request(startXAuth, {}, { as })).url);
const finish = (as: TestUser, body: { code: string; state: string }) =>
  server.request(finishXAuth, { body }, { as });
const refusal = (status: number, message: string | RegExp) => ({
  status,
  body: { error: { message: typeof message === 'string' ? message : expect.stringMatching(message) } },
});

const auditOf = (who: TestUser, action: AuditAction) =>
  server.services.db
    .selectFrom('audit_log')
    .select('detail')
    .where('user_id', '=', who.userId)
    .where('action', '=', action)
    .execute();

async function connected(name: string): Promise<TestUser> {
  const as = await server.signUp(name);
  await finish(as, await consent(as));
  return as;
}

describe('an account on X', () => {
  test("is connected through X's page with encrypted tokens, and disconnected", async () => {
    const as = await server.signUp('Ada');
    expect(await statusOf(as)).toEqual({ status: 'not_connected', username: null });
    const { url } = await server.request(startXAuth, {}, { as });
    expect(url).toMatch(/^https:\/\/x\.com\/i\/oauth2\/authorize\?/);
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      client_id: 'our id',
      redirect_uri: `${server.url}/invite`,
      scope: 'tweet.read tweet.write users.read offline.access',
      code_challenge_method: 'S256',
    });
    expect(await finish(as, x.book.consent(url))).toEqual({ status: 'connected', username: 'ada_bakes' });
    expect(await statusOf(as)).toEqual({ status: 'connected', username: 'ada_bakes' });
    const row = await server.services.db.selectFrom('x_accounts').selectAll().executeTakeFirstOrThrow();
    expect(`${row.access_token.toString()}${row.refresh_token.toString()}`).not.toMatch(/access-|refresh-/);

    await server.request(endXAuth, {}, { as });
    expect(await statusOf(as)).toEqual({ status: 'not_connected', username: null });
    expect(x.book.revoked).toHaveLength(1);
    for (const action of ['x_account.connected', 'x_account.disconnected'] as const)
      expect(await auditOf(as, action)).toEqual([{ detail: { username: 'ada_bakes' } }]);
  });

  test("is not connected with another user's, an expired or a used state", async () => {
    const [as, other] = [await server.signUp('Bob'), await server.signUp('Cora')];
    const stale = refusal(400, /^This X sign-in has expired or was started elsewhere/);
    await expect(finish(other, await consent(as))).rejects.toMatchObject(stale);
    const back = await consent(as);
    await finish(as, back);
    await expect(finish(as, back)).rejects.toMatchObject(stale);
    const late = await consent(as);
    clock.advance({ minutes: 16 });
    await expect(finish(as, late)).rejects.toMatchObject(stale);
    expect(await statusOf(other)).toMatchObject({ status: 'not_connected' });
  });

  test('does not mention a post if X refuses the account lookup', async () => {
    const as = await server.signUp('Max');
    const next = { to: 'GET /2/users/me', body: { detail: 'Not you' } };
    x.book.next = { ...next, status: 403 };
    await expect(finish(as, await consent(as))).rejects.toMatchObject(
      refusal(409, 'X refused this: Not you'),
    );
    x.book.next = { ...next, status: 429 };
    await expect(finish(as, await consent(as))).rejects.toMatchObject(
      refusal(429, 'X takes no more requests for now. Try again later'),
    );
  });

  test('is disconnected at X when its user is deleted', async () => {
    const as = await connected('Nora');
    const before = x.book.revoked.length;
    await purgeUser(server.services, as.userId);
    expect(x.book.revoked).toHaveLength(before + 1);
    expect(await findXAccount(server.services.db, as.userId)).toBeUndefined();
    expect(await auditOf(as, 'x_account.disconnected')).toEqual([{ detail: {} }]);
  });
});

describe('an invitation', () => {
  test('is posted once, with its link, as a reply if requested', async () => {
    const as = await connected('Dan');
    const { referral_code, referral_link } = await server.request(generateReferral, {}, { as });
    const state = () => server.request(getXPostStatus, { query: { referral_code } }, { as });
    expect(await state()).toEqual({ status: 'not_posted', referral_code, post_url: null });
    const answers = await Promise.allSettled([
      post(as, 'Bake with me', { reply_to: '12', quote_tweet_id: '34' }),
      post(as, 'Bake with me', { reply_to: '12', quote_tweet_id: '34' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(x.book.posts).toEqual([
      { text: `Bake with me ${referral_link}`, reply: { in_reply_to_tweet_id: '12' }, quote_tweet_id: '34' },
    ]);
    const post_url = 'https://x.com/i/web/status/1001';
    expect(await state()).toEqual({ status: 'posted', referral_code, post_url });
    expect(await auditOf(as, 'referral.posted')).toHaveLength(1);
    await expect(post(as, 'Once more')).rejects.toMatchObject(
      refusal(409, 'You have already posted your invitation on X'),
    );
  });

  test('is posted with a new token if the old one has expired or X refuses it', async () => {
    const [as, other] = [await connected('Eve'), await connected('Finn')];
    const before = x.book.refreshes;
    clock.advance({ hours: 2 });
    await post(as, 'Expired');
    expect(x.book.refreshes).toBe(before + 1);
    await finish(other, await consent(other));
    x.book.end({ refreshToo: false });
    await post(other, 'Revoked');
    expect(x.book.refreshes).toBe(before + 2);
  });

  test('cannot be posted once X refuses all tokens, until the account is connected again', async () => {
    const as = await connected('Gus');
    x.book.end({ refreshToo: true });
    await expect(post(as, 'Hello')).rejects.toMatchObject(
      refusal(409, 'Your X connection has expired. Connect your account again'),
    );
    expect(await statusOf(as)).toMatchObject({ status: 'not_connected' });
    await expect(post(as, 'Hello')).rejects.toMatchObject(refusal(409, 'Connect your X account first'));
    await finish(as, await consent(as));
    expect(await post(as, 'Hello')).toMatchObject({ status: 'posted' });
  });

  test('can be retried immediately if X refuses it with a reason', async () => {
    const as = await connected('Hal');
    const detail = 'You are not allowed to create a Tweet with duplicate content.';
    x.book.next = { status: 403, body: { title: 'Forbidden', status: 403, detail } };
    await expect(post(as, 'Hello')).rejects.toMatchObject(refusal(409, `X refused the post: ${detail}`));
    const reset = Math.ceil(clock.now().getTime() / 1000) + 5 * 60 - 5;
    x.book.next = {
      status: 429,
      body: { title: 'Too Many Requests', status: 429 },
      headers: { 'x-rate-limit-reset': `${reset}` },
    };
    await expect(post(as, 'Hello')).rejects.toMatchObject(
      refusal(429, 'X takes no more posts for now. Try again in 5 minutes'),
    );
    expect(await post(as, 'Hello')).toMatchObject({ status: 'posted' });
  });

  test('can be retried immediately if no token could be obtained, because nothing was posted', async () => {
    const as = await connected('Kim');
    clock.advance({ hours: 2 });
    x.book.next = { to: 'POST /2/oauth2/token', status: 503, body: {} };
    await expect(post(as, 'Hello')).rejects.toMatchObject(refusal(503, 'X did not answer. Please try again'));
    expect(await post(as, 'Hello')).toMatchObject({ status: 'posted' });
  });

  test('does not release a claim that another call has taken over', async () => {
    const { userId } = await server.signUp('Lea');
    const { db } = server.services;
    const [first, second] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:02:00Z')];
    expect([await claimXPost(db, userId, first), await claimXPost(db, userId, second)]).toEqual([true, true]);
    await releaseXPost(db, userId, first);
    expect(await findXPost(db, userId)).toEqual({ post_id: null });
    await releaseXPost(db, userId, second);
    expect(await findXPost(db, userId)).toBeNull();
  });

  test('is not retried for a minute if X may have posted it', async () => {
    const as = await connected('Ida');
    x.book.next = { status: 503, body: { title: 'Service Unavailable' } };
    await expect(post(as, 'Hello')).rejects.toMatchObject(refusal(503, 'X did not answer. Please try again'));
    await expect(post(as, 'Hello')).rejects.toMatchObject(
      refusal(409, /^Your invitation may already be on X/),
    );
    clock.advance({ minutes: 2 });
    // Generated clients send all fields, even empty ones.
    const more = { recipient_id: null, reply_to: '', quote_tweet_id: null };
    expect(await post(as, 'Hello', more)).toMatchObject({ status: 'posted' });
  });

  test.each([
    ['reply_to', { message: 'Hello', reply_to: 'x' }, 'reply_to must be the id of a post on X'],
    [
      'referral_code',
      { message: 'Hello', referral_code: 'nobodys1' },
      'referral_code must be your own invitation code',
    ],
    ['message', { message: ' ' }, 'message must not be empty'],
  ])('refuses a bad %s by name', async (param, body, message) => {
    const as = await server.signUp('Jo');
    await expect(server.request(postReferralToX, { body }, { as })).rejects.toMatchObject({
      status: 400,
      body: { error: { param, message } },
    });
  });
});
