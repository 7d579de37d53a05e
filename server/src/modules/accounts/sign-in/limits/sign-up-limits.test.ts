import { expect, test } from 'vitest';
import { readConfig } from '../../../../config.ts';
import { authClient, bodyOf, password } from '../../../../testing/auth-client.ts';
import { testServer } from '../../../../testing/test-server.ts';

/** Starts a separate server, whose counts start at zero. */
async function signingUp(config: { signUpsPerAddress: number; signUpsPerHour: number }) {
  const { post } = authClient(
    await testServer({ config: { rateLimits: true, rateLimitPerMinute: 0, ...config } }),
  );
  let users = 0;
  return (from: string, form: object = {}) => {
    users += 1;
    const body = { name: 'Ada', email: `new-${users}@example.com`, password, ...form };
    return post('/sign-up/email', body, { 'x-forwarded-for': from });
  };
}

async function refusal(response: Response) {
  expect(response.status).toBe(429);
  const retryAfter = Number(response.headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(3500);
  expect(retryAfter).toBeLessThanOrEqual(3600);
  return (await bodyOf(response)).error;
}

test('limits the accounts per hour of one address, without affecting other addresses', async () => {
  const signUp = await signingUp({ signUpsPerAddress: 3, signUpsPerHour: 100 });
  // Calls that create no account do not count.
  for (let at = 0; at < 4; at += 1)
    expect((await signUp('203.0.113.1', { password: 'short' })).status).toBe(400);
  for (let at = 0; at < 3; at += 1) expect((await signUp('203.0.113.1')).status).toBe(200);
  expect(await refusal(await signUp('203.0.113.1'))).toMatchObject({
    code: 'rate_limited',
    message: 'Too many sign-ups from your network. Try again in 60 minutes.',
  });
  expect((await signUp('203.0.113.2')).status).toBe(200);
});

test('counts an IPv6 network as one address, across all of its subnets', async () => {
  const signUp = await signingUp({ signUpsPerAddress: 2, signUpsPerHour: 100 });
  expect((await signUp('2001:db8:1:1::a')).status).toBe(200);
  expect((await signUp('2001:db8:1:2::a')).status).toBe(200);
  await refusal(await signUp('2001:db8:1:3::a'));
  expect((await signUp('2001:db8:2:1::a')).status).toBe(200);
});

test('limits the accounts per hour of all addresses together; rejected calls do not count', async () => {
  const signUp = await signingUp({ signUpsPerAddress: 2, signUpsPerHour: 3 });
  const statuses = [];
  for (let at = 0; at < 5; at += 1) statuses.push((await signUp('203.0.113.1')).status);
  expect(statuses).toEqual([200, 200, 429, 429, 429]);
  expect((await signUp('203.0.113.2')).status).toBe(200);
  expect(await refusal(await signUp('203.0.113.3'))).toMatchObject({
    message: 'Too many sign-ups right now. Try again in 60 minutes.',
  });
});

test('0 disables the limit', async () => {
  const signUp = await signingUp({ signUpsPerAddress: 0, signUpsPerHour: 0 });
  expect((await signUp('203.0.113.1')).status).toBe(200);
});

test('by default a team of 100 can sign up from one address, which leaves room for other addresses', () => {
  const { signUpsPerAddress, signUpsPerHour } = readConfig({});
  expect(signUpsPerAddress).toBe(100);
  expect(signUpsPerHour).toBeGreaterThan(signUpsPerAddress);
});
