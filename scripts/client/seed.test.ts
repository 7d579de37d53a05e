import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { account, seed } from '../seed.ts';

afterEach(() => vi.unstubAllEnvs());

test('names the account and a solution if another user has its address', async () => {
  const server = createServer((request, response) => {
    const isReady = request.url === '/readyz';
    const isSignUp = request.url === '/api/auth/sign-up/email';
    response.writeHead(isReady ? 200 : isSignUp ? 422 : 401);
    const message = isSignUp ? 'User already exists.' : 'Invalid password.';
    const error = { code: 'x', message, type: 'invalid_request_error', param: null, request_id: 'r1' };
    response.end(JSON.stringify({ error }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('BAKEHOUSE_PUBLIC_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const nothing = {
    words: [],
    startedIn: '',
    check: false,
    models: false,
    scale: false,
    soak: false,
    fraction: 1,
  };
  await expect(seed(nothing)).rejects.toThrow(
    new RegExp(`${account.email}.*failed with 422: User already exists\\. If the address is taken, delete`),
  );
  server.close();
});
