import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { getMe } from '@bakehouse/contract/accounts';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { type ErrorBody, errorBody } from '@bakehouse/contract/errors';
import { beforeAll, describe, expect, test } from 'vitest';
import { authClient, cookieOf, password } from '../../../../testing/auth-client.ts';
import { type TestServer, testServer } from '../../../../testing/test-server.ts';
import { authBodies } from './auth-bodies.ts';

let server: TestServer;
let post: ReturnType<typeof authClient>['post'];
beforeAll(async () => {
  server = await testServer();
  ({ post } = authClient(server));
});

const strange = [undefined, null, [], {}, 5, 'text', true];
const whole = {
  ...{ name: 'Ida', email: 'ida@example.com', password, newPassword: password, currentPassword: 'not it' },
  ...{ token: 'made-up', provider: 'github', accountId: 'nobody' },
};
/** Fields of the library. */
const further = ['callbackURL', 'rememberMe', 'idToken', 'additionalData'];
const wrong = (schema: object) => {
  const fields = [...('shape' in schema ? Object.keys(schema.shape as object) : []), ...further];
  return fields.flatMap((field) => [null, 5, []].map((value) => ({ ...whole, [field]: value })));
};

describe.each(Object.entries(authBodies))('POST /api/auth%s', (path, schema) => {
  test('rejects every malformed body in the common error format, and never returns 5xx', async () => {
    const { cookie } = await server.signUp();
    for (const body of [...strange, ...wrong(schema)]) {
      const response = await fetch(`${server.url}/api/auth${path}`, {
        method: 'POST',
        headers: {
          origin: server.url,
          ...(path !== '/sign-out' && { cookie }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (response.ok) continue;
      const answer = (await response.json()) as ErrorBody;
      const what = `${response.status} to ${JSON.stringify(body)}: ${JSON.stringify(answer)}`;
      expect(response.status, what).toBeLessThan(500);
      expect(errorBody.strict().safeParse(answer).success, what).toBe(true);
      expect(answer.error.message, what).not.toMatch(/Invalid input|\[body/);
      expect(answer.error.request_id, what).toBe(response.headers.get('x-request-id'));
    }
  });
});

test.each([
  '/verify-email',
  '/list-accounts',
  '/verify-email?token=1',
  '/reset-password/made-up',
  '/callback/nobody',
])('GET /api/auth%s returns the common error format or a redirect', async (path) => {
  const { cookie } = await server.signUp();
  for (const headers of [{}, { cookie }] as Record<string, string>[]) {
    const response = await fetch(`${server.url}/api/auth${path}`, { headers, redirect: 'manual' });
    if (response.status < 400) continue;
    const answer = await response.json();
    expect(response.status, JSON.stringify(answer)).toBeLessThan(500);
    expect(errorBody.strict().parse(answer).error.message).not.toMatch(/Invalid input|\[query/);
  }
});

test("names the invalid field, or returns the sign-in library's message", async () => {
  const answer = async (path: string, body: object) => (await post(path, body)).json();
  expect(await answer('/sign-in/email', { email: 'ida', password: 'x' })).toMatchObject({
    error: { code: 'invalid_request', message: 'Enter a valid email address', param: 'email' },
  });
  expect(await answer('/reset-password', {})).toMatchObject({
    error: { message: 'newPassword and token are required', param: 'newPassword' },
  });
  expect(await answer('/sign-in/email', { email: 'nobody@example.com', password: 'x' })).toMatchObject({
    error: { code: 'invalid_email_or_password', message: 'Invalid email or password', param: null },
  });
});

describe('a page on a host other than the public URL', () => {
  const ask = (host: string): Promise<{ status: number | undefined; body: string }> =>
    new Promise((resolve, reject) => {
      const call = get(
        `${server.url}/api/auth/sign-out`,
        {
          method: 'POST',
          headers: {
            host,
            origin: `http://${host}`,
            cookie: 'bakehouse.session_token=x',
            'content-type': 'application/json',
          },
        },
        (answer) => {
          void text(answer).then((body) => resolve({ status: answer.statusCode, body }), reject);
        },
      );
      call.on('error', reject);
    });

  test('is rejected with advice for the operator', async () => {
    const { status, body } = await ask('rebound.example');
    expect(status).toBe(403);
    expect(JSON.parse(body)).toMatchObject({
      error: { code: 'invalid_origin', message: expect.stringContaining('BAKEHOUSE_PUBLIC_URL') },
    });
  });

  test.each(['localhost:1', '127.0.0.1', '192.168.7.7:4080', '[::1]:4080'])(
    'is accepted: %s',
    async (host) => {
      expect((await ask(host)).status).toBe(200);
    },
  );
});

test('a changed password ends API keys if requested, and the web app gets a new one', async () => {
  const pay = await server.signUp('Pay');
  const { secret } = await server.request(
    createApiKey,
    { params: { userId: pay.userId }, body: { name: 'script' } },
    { as: pay },
  );
  const next = 'a second good password';
  const change = (body: object, cookie: string) => post('/change-password', body, { cookie });
  const kept = await change({ currentPassword: password, newPassword: next }, pay.cookie);
  expect(kept.status).toBe(200);
  for (const apiKey of [pay.apiKey, secret]) await server.request(getMe, {}, { as: { apiKey } });

  const third = { currentPassword: next, newPassword: 'a third good password', revokeApiKeys: true };
  const wrongOne = await change({ ...third, currentPassword: 'not it' }, cookieOf(kept));
  expect(wrongOne.status).toBe(400);
  await server.request(getMe, {}, { as: pay });
  const ended = await change(third, cookieOf(kept));
  expect(ended.status).toBe(200);
  for (const apiKey of [pay.apiKey, secret])
    await expect(server.request(getMe, {}, { as: { apiKey } })).rejects.toMatchObject({ status: 401 });
  const response = await fetch(`${server.url}/api/v1/session`, { headers: { cookie: cookieOf(ended) } });
  const { api_key: apiKey } = (await response.json()) as { api_key: string };
  expect((await server.request(getMe, {}, { as: { apiKey } })).id).toBe(pay.userId);
});
