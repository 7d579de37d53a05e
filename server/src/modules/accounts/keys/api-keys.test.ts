import { getApiKey, getMe, rotateApiKey } from '@bakehouse/contract/accounts';
import {
  changeApiKey,
  createApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKeyById,
} from '@bakehouse/contract/api-keys';
import { createAsset } from '@bakehouse/contract/assets';
import { listModels } from '@bakehouse/contract/chat';
import { transferTokens } from '@bakehouse/contract/credits';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { streamEvents } from '@bakehouse/contract/events';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { untilWaiting } from '../../../testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { lockAddress } from '../queries.ts';
import { revokeAccess } from '../revoke-access.ts';
import { serverSecret } from '../sign-in/server-secret.ts';

const clock = fakeClock();
const server = await testServer({ clock });
const WAIT = { timeout: 20_000 };

type Settings = CallOf<typeof createApiKey>['body'];

async function makeKey(as: TestUser, settings: Partial<Settings> = {}) {
  const body = { name: 'program', ...settings };
  const { api_key, secret } = await server.request(
    createApiKey,
    { params: { userId: as.userId }, body },
    { as },
  );
  return { id: api_key.id, apiKey: secret };
}

const opens = async (as: { apiKey: string }) => (await server.send(getMe, {}, { as })).status;
const list = async (as: TestUser, include_revoked: 'true' | 'false' = 'false') =>
  (await server.request(listApiKeys, { params: { userId: as.userId }, query: { include_revoked } }, { as }))
    .api_keys;
const inHours = (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000).toISOString();

describe('a user', () => {
  test('has many keys, which work until they are revoked, and are listed without their secrets', async () => {
    const ada = await server.signUp('Ada');
    const [one, two] = [await makeKey(ada, { name: 'one' }), await makeKey(ada, { name: 'two' })];
    expect([await opens(one), await opens(two), await opens(ada)]).toEqual([200, 200, 200]);
    const keys = await list(ada);
    expect(keys.map(({ name, for_web_app }) => [name, for_web_app])).toEqual([
      ['Web app', true],
      ['one', false],
      ['two', false],
    ]);
    expect(JSON.stringify(keys)).not.toContain(one.apiKey);
    await server.request(revokeApiKey, { params: { keyId: one.id } }, { as: ada });
    expect([await opens(one), await opens(two), await opens(ada)]).toEqual([401, 200, 200]);
    expect((await list(ada)).map(({ name }) => name)).toEqual(['Web app', 'two']);
    const ever = await list(ada, 'true');
    expect(ever.map(({ name, revoked_at }) => [name, revoked_at !== null])).toEqual([
      ['Web app', false],
      ['one', true],
      ['two', false],
    ]);
  });

  test("always has the web app's key, which can be rotated but not changed or revoked", async () => {
    const ben = await server.signUp('Ben');
    const [webApp] = await list(ben);
    const keyId = webApp?.id ?? '';
    await expect(server.request(revokeApiKey, { params: { keyId } }, { as: ben })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(
      server.request(changeApiKey, { params: { keyId }, body: { name: 'mine' } }, { as: ben }),
    ).rejects.toMatchObject({ code: 'conflict' });
    const program = await makeKey(ben);
    await server.request(rotateApiKey, {}, { as: ben });
    expect([await opens(ben), await opens(program)]).toEqual([401, 200]);
  });
});

test.each(['key', 'session'] as const)(
  'gets no new key if the %s that requests it ends in the meantime',
  async (by) => {
    const kit = await server.signUp('Kit');
    const { db, config } = server.services;
    const headers = { cookie: kit.cookie };
    const calls = [
      () => server.send(rotateApiKey, {}, by === 'key' ? { as: kit } : { headers }),
      ...(by === 'key'
        ? [
            async () =>
              server.send(
                rotateApiKeyById,
                { params: { keyId: (await list(kit))[0]?.id ?? '' }, body: { keep_old: true } },
                { as: kit },
              ),
            () =>
              server.send(
                createApiKey,
                { params: { userId: kit.userId }, body: { name: 'thief' } },
                { as: kit },
              ),
          ]
        : []),
    ];
    const waiting = await inTransaction(db, async (tx) => {
      await revokeAccess(tx, { userId: kit.userId, serverSecret: serverSecret(config), now: clock.now() });
      const begun = calls.map((call) => call());
      await untilWaiting(db, calls.length);
      return { begun };
    });
    const answers = await Promise.all(waiting.begun);
    expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 401));
    const keys = await db
      .selectFrom('api_keys')
      .select('name')
      .where('user_id', '=', kit.userId)
      .where('revoked_at', 'is', null)
      .execute();
    expect(keys).toEqual([{ name: 'Web app' }]);
  },
);

test('creating a key does not wait for a transaction that has locked the address, which would risk a deadlock', async () => {
  const lou = await server.signUp('Lou');
  const key = await inTransaction(server.services.db, async (tx) => {
    await lockAddress(tx, lou.userId);
    return makeKey(lou);
  });
  expect(await opens(key)).toBe(200);
});

describe('a key', () => {
  test('with an expiry works until then', async () => {
    const cleo = await server.signUp('Cleo');
    const key = await makeKey(cleo, { expires_at: inHours(1) });
    clock.advance({ minutes: 59 });
    expect(await opens(key)).toBe(200);
    clock.advance({ minutes: 1 });
    expect(await opens(key)).toBe(401);
    await expect(makeKey(cleo, { expires_at: inHours(-1) })).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'expires_at' } },
    });
  });

  test('works with its old secret for 24 hours after rotation, but only if requested', async () => {
    const dan = await server.signUp('Dan');
    const key = await makeKey(dan);
    const rotate = async (keep_old: boolean) => {
      const { secret } = await server.request(
        rotateApiKeyById,
        { params: { keyId: key.id }, body: { keep_old } },
        { as: dan },
      );
      return { apiKey: secret };
    };
    const second = await rotate(true);
    expect([await opens(key), await opens(second)]).toEqual([200, 200]);
    clock.advance({ hours: 24 });
    expect([await opens(key), await opens(second)]).toEqual([401, 200]);
    const third = await rotate(false);
    expect([await opens(second), await opens(third)]).toEqual([401, 200]);
  });

  test('of the web app also works with its old secret for a day if requested, and the web app shows the new secret', async () => {
    const eva = await server.signUp('Eva');
    const [webApp] = await list(eva);
    const { secret } = await server.request(
      rotateApiKeyById,
      { params: { keyId: webApp?.id ?? '' }, body: { keep_old: true } },
      { as: eva },
    );
    expect(await opens(eva)).toBe(200);
    const headers = { cookie: eva.cookie };
    const shown = await server.request(getApiKey, { query: { user_id: eva.userId } }, { headers });
    expect(shown.data).toBe(secret);
  });

  test('is limited to its scopes', async () => {
    const fay = await server.signUp('Fay');
    const [reader, asker] = [
      await makeKey(fay, { scopes: ['read'] }),
      await makeKey(fay, { scopes: ['inference'] }),
    ];
    const ask = async (as: { apiKey: string }) => (await server.send(listModels, {}, { as })).status;
    const create = async (as: { apiKey: string }) => {
      const body = { dataset_type: 'RAW' as const, title: 'more', user_id: fay.userId };
      return (await server.send(createAsset, { body }, { as })).status;
    };
    const chat = async (as: { apiKey: string }) =>
      (
        await fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'x-api-key': as.apiKey, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'none', messages: [{ role: 'user', content: 'Hi' }] }),
        })
      ).status;
    expect([await opens(reader), await ask(reader), await chat(reader), await create(reader)]).toEqual([
      200, 200, 403, 403,
    ]);
    expect([await opens(asker), await ask(asker), await chat(asker), await create(asker)]).toEqual([
      403, 200, 404, 403,
    ]);
    const change = { params: { keyId: reader.id }, body: { scopes: ['everything' as const] } };
    await server.request(changeApiKey, change, { as: fay });
    expect(await create(reader)).toBe(200);
  });

  test('with a budget cannot send credits, and additional keys cannot manage keys', async () => {
    const gus = await server.signUp('Gus');
    const key = await makeKey(gus, { budget: { amount: '1', period: 'total' } });
    const refused = { status: 403, code: 'forbidden' };
    await expect(makeKey({ ...gus, ...key })).rejects.toMatchObject(refused);
    await expect(server.request(rotateApiKey, {}, { as: key })).rejects.toMatchObject(refused);
    const change = { params: { keyId: key.id }, body: { budget: null } };
    await expect(server.request(changeApiKey, change, { as: key })).rejects.toMatchObject(refused);
    const revoke = { params: { keyId: key.id } };
    await expect(server.request(revokeApiKey, revoke, { as: key })).rejects.toMatchObject(refused);
    const send = { body: { user_id: gus.userId, recipient_id: 'ada', amount: '0.5' } };
    await expect(server.request(transferTokens, send, { as: key })).rejects.toMatchObject(refused);
    await server.request(changeApiKey, change, { as: gus });
    expect((await list(gus)).at(-1)?.budget).toBeNull();
    await expect(makeKey({ ...gus, ...key })).rejects.toMatchObject(refused);
    expect(await list({ ...gus, ...key })).toHaveLength(2);
  });

  test('ends only its own open requests on every server when revoked', async () => {
    const other = await testServer({ clock, database: { url: server.databaseUrl, close: async () => {} } });
    const hal = await server.signUp('Hal');
    const [key, kept] = [await makeKey(hal), await makeKey(hal)];
    const streams = await Promise.all(
      [server, other].map(async (one) => ({
        ending: await one.send(streamEvents, {}, { as: key }),
        staying: await one.send(streamEvents, {}, { as: kept }),
      })),
    );
    await server.request(revokeApiKey, { params: { keyId: key.id } }, { as: hal });
    for (const { ending, staying } of streams) {
      await ending.text();
      const reader = staying.body?.getReader();
      let heard = '';
      while (!heard.includes(key.id)) heard += Buffer.from((await reader?.read())?.value ?? []).toString();
      await reader?.cancel();
    }
    expect((await other.send(getMe, {}, { as: key })).status).toBe(401);
    await other.close();
  });

  test('ends its open requests when revoked, even on a server that missed the notification', async () => {
    const other = await testServer({ clock, database: { url: server.databaseUrl, close: async () => {} } });
    const kim = await server.signUp('Kim');
    const key = await makeKey(kim);
    const { db } = server.services;
    const stream = await other.send(streamEvents, {}, { as: key });
    // The notification is lost: no server listens at the commit, and nothing announces the change later.
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'bakehouse row changes' and datname = current_database()`.execute(db);
    await db.updateTable('api_keys').set({ revoked_at: clock.now() }).where('id', '=', key.id).execute();
    await stream.text();
    expect((await other.send(getMe, {}, { as: key })).status).toBe(401);
    await other.close();
  });

  test('ends only its own open requests when revoked, even on a server without free database connections', async () => {
    const other = await testServer({ clock, database: { url: server.databaseUrl, close: async () => {} } });
    const mia = await server.signUp('Mia');
    const [key, next, kept] = [await makeKey(mia), await makeKey(mia), await makeKey(mia)];
    const [ending, staying] = [await openStream(other, key), await openStream(other, kept)];
    // An event with an id proves that the server has caught up with missed changes.
    for (const { hears } of [ending, staying]) expect(await hears('id: ')).toBe(true);
    const { pool } = other.services;
    const taken = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    const revoke = ({ id }: { id: string }) =>
      server.request(revokeApiKey, { params: { keyId: id } }, { as: mia });
    await revoke(key);
    await ending.ends();
    await revoke(next);
    expect(await staying.hears(next.id)).toBe(true);
    for (const client of taken) client.release();
    await staying.leave();
    await other.close();
  });

  test('is rejected immediately on the server that revoked it, and soon on servers that cache it', async () => {
    const other = await startOther();
    const ida = await server.signUp('Ida');
    const key = await makeKey(ida);
    await other.until('kept', key);
    expect(await opens(key)).toBe(200);
    await server.request(revokeApiKey, { params: { keyId: key.id } }, { as: ida });
    expect(await opens(key)).toBe(401);
    await vi.waitFor(async () => expect(await other.opens(key)).toBe(401), WAIT);
    await other.close();
  });

  test('is rejected after its revocation, even by a server that receives no notifications', async () => {
    const other = await startOther();
    const jon = await server.signUp('Jon');
    const key = await makeKey(jon);
    await other.until('kept', key);
    const { db } = server.services;
    const cut = () =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'bakehouse row changes' and datname = current_database()`.execute(db);
    await cut();
    await other.until('read', key, cut);
    await db.updateTable('api_keys').set({ revoked_at: clock.now() }).where('id', '=', key.id).execute();
    await cut();
    await vi.waitFor(async () => expect(await other.opens(key)).toBe(401), WAIT);
    await other.close();
  });
});

/** Opens the event stream of a caller. */
async function openStream(from: TestServer, as: { apiKey: string }) {
  const reader = (await from.send(streamEvents, {}, { as })).body?.getReader();
  let heard = '';
  const read = async () => {
    const { done = true, value } = (await reader?.read()) ?? {};
    heard += Buffer.from(value ?? []).toString();
    return !done;
  };
  return {
    /** Returns true if the text arrives before the stream ends. */
    hears: async (text: string) => {
      while (!heard.includes(text)) if (!(await read())) return false;
      return true;
    },
    ends: async () => {
      while (await read());
    },
    leave: async () => reader?.cancel(),
  };
}

/** Starts a second server on the same database, with a spy on its key queries. */
async function startOther() {
  const other = await testServer({ clock, database: { url: server.databaseUrl, close: async () => {} } });
  const query = vi.spyOn(other.services.pool, 'query');
  const isOpenTo = async (as: { apiKey: string }) => (await other.send(getMe, {}, { as })).status;
  return {
    close: other.close,
    opens: isOpenTo,
    until: (
      source: 'kept' | 'read',
      as: { apiKey: string },
      before: () => Promise<unknown> = async () => null,
    ) =>
      vi.waitFor(async () => {
        await before();
        query.mockClear();
        expect(await isOpenTo(as)).toBe(200);
        const names = query.mock.calls.map(([asked]) => (asked as { name?: string }).name);
        expect(names.includes('find_key_owners')).toBe(source === 'read');
      }, WAIT),
  };
}
