import { expect, test, vi } from 'vitest';
import type { Services } from '../../../platform/context.ts';
import { connect } from '../../../platform/db/database.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { makeApiKey } from './api-key.ts';
import { authenticateKey } from './authenticate-key.ts';

/** Returns services with a fake query, which returns an owner for every requested key. */
function services() {
  const db = connect('postgresql://127.0.0.1:1/away');
  onFileEnd(() => db.destroy());
  const query = vi.fn(async ({ values }: { values: [Buffer[], ...unknown[]] }) => ({
    rows: values[0].map((hash) => ({
      ...{ sha256: hash.toString('hex'), key_id: hash.toString('hex'), for_web_app: false, scopes: ['read'] },
      ...{ has_budget: false, expires_at: null, last_used_at: new Date() },
      ...{ user_id: 'ada', email: 'ada@example.com', email_verified: false },
    })),
  }));
  const rowChanges = { areCurrent: () => false, subscribe: () => undefined, count: () => 0 };
  const rest = { db, rowChanges, config: { operators: [] }, clock: { now: () => new Date() } };
  return { query, all: { ...rest, pool: { query } } as unknown as Services };
}

test("checks the keys of all open streams together, separately from callers' keys", async () => {
  const { query, all } = services();
  const authenticate = authenticateKey(all);
  const callers = await Promise.all(
    [makeApiKey(), makeApiKey(), makeApiKey()].map((secret) => authenticate(secret)),
  );
  query.mockClear();
  const slow = Promise.withResolvers<never>();
  query.mockReturnValueOnce(slow.promise);
  const looks = callers.map(async (caller) => caller?.key?.look());
  await vi.waitFor(() => expect(query).toHaveBeenCalledTimes(1));
  // A caller is authenticated while the check of the open streams is running.
  await authenticate(makeApiKey());
  expect(query).toHaveBeenCalledTimes(2);
  slow.reject(new Error('away'));
  expect((await Promise.allSettled(looks)).map(({ status }) => status)).toEqual([
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(query).toHaveBeenCalledTimes(3);
});
