import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { rotateApiKey } from '@bakehouse/contract/accounts';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { testServer } from './testing/test-server.ts';

/*
 * Who may call what: every endpoint of the contract with no key, a key that is nobody's any more,
 * and another user's key. A new endpoint is covered by being written.
 */

const endpoints = await contractEndpoints();
const server = await testServer();
const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
const stale = { ...ada };
ada.apiKey = (await server.request(rotateApiKey, {}, { as: ada })).data;

async function contractEndpoints(): Promise<Endpoint[]> {
  const dir = path.join(import.meta.dirname, '../../contract/src');
  const files = (await readdir(dir)).filter((name) => name.endsWith('.ts') && !name.includes('.test.'));
  const modules = await Promise.all(
    files.map((name): Promise<Record<string, unknown>> => import(path.join(dir, name))),
  );
  return modules
    .flatMap((module) => Object.values(module))
    .filter(
      (value): value is Endpoint =>
        typeof value === 'object' && value !== null && 'access' in value && 'path' in value,
    )
    .sort((a, b) => a.path.localeCompare(b.path));
}

/** Sends just enough for the checks of access, which come before those of the input. */
async function statusOf(
  endpoint: Endpoint,
  headers: Record<string, string>,
  userId = bob.userId,
): Promise<number> {
  const target = new URL(
    endpoint.path
      .replace(/:(\w+)/g, (_match, name: string) => (name === 'userId' ? userId : randomUUID()))
      .replace('*', 'x'),
    server.url,
  );
  for (const name of ['user_id', 'owner'])
    if (hasField(endpoint.query, name)) target.searchParams.set(name, userId);
  const takesBody = endpoint.method !== 'GET' && endpoint.method !== 'HEAD' && endpoint.body !== undefined;
  const response = await fetch(target, {
    method: endpoint.method,
    headers: { ...headers, ...(takesBody && { 'content-type': 'application/json' }) },
    body: takesBody ? JSON.stringify({ user_id: userId }) : null,
  });
  await response.body?.cancel();
  return response.status;
}

function hasField(schema: z.ZodType | undefined, name: string): boolean {
  return schema instanceof z.ZodObject && name in schema.shape;
}

function namesAUser(endpoint: Endpoint): boolean {
  return (
    endpoint.path.includes(':userId') ||
    hasField(endpoint.query, 'user_id') ||
    hasField(endpoint.query, 'owner') ||
    hasField(endpoint.body, 'user_id')
  );
}

const line = (endpoint: Endpoint) => `${endpoint.method} ${endpoint.path}`;
const withAccess = (...access: Endpoint['access'][]) =>
  endpoints.filter((one) => access.includes(one.access)).map((one) => [line(one), one] as const);

test.each(endpoints.map((one) => [line(one), one] as const))(
  '%s is answered by the server',
  (_line, { method, path: url }) => {
    expect(server.app.http.hasRoute({ method, url })).toBe(true);
  },
);

describe('a route that takes a key', () => {
  test.each(withAccess('key', 'operator'))(
    '%s refuses no key, a stale key, and a session alone',
    async (_line, endpoint) => {
      expect(await statusOf(endpoint, {})).toBe(401);
      expect(await statusOf(endpoint, { 'x-api-key': 'nonsense' })).toBe(401);
      expect(await statusOf(endpoint, { 'x-api-key': stale.apiKey })).toBe(401);
      expect(await statusOf(endpoint, { authorization: `Bearer ${stale.apiKey}` })).toBe(401);
      expect(await statusOf(endpoint, { cookie: bob.cookie })).toBe(401);
    },
  );

  const personal = withAccess('key').filter(([, endpoint]) => namesAUser(endpoint));
  test.each(personal)("%s refuses another user's id", async (_line, endpoint) => {
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey }, ada.userId)).toBe(403);
  });

  test.each(withAccess('operator'))('%s refuses everybody who is no operator', async (_line, endpoint) => {
    expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(403);
  });
});

test.each(withAccess('session'))('%s takes the owner of the session, and no key', async (_line, endpoint) => {
  expect(await statusOf(endpoint, {})).toBe(401);
  expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(401);
  expect(await statusOf(endpoint, { cookie: bob.cookie }, ada.userId)).toBe(403);
  expect(await statusOf(endpoint, { cookie: bob.cookie })).toBe(200);
});

test.each(withAccess('workload'))('%s takes the token of its workload alone', async (_line, endpoint) => {
  expect(await statusOf(endpoint, {})).toBe(401);
  expect(await statusOf(endpoint, { authorization: 'Bearer nonsense' })).toBe(401);
  expect(await statusOf(endpoint, { authorization: `Bearer ${bob.apiKey}` })).toBe(401);
  expect(await statusOf(endpoint, { 'x-api-key': bob.apiKey })).toBe(401);
});
