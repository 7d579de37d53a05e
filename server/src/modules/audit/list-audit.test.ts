import { createAsset } from '@bakehouse/contract/assets';
import { listAudit } from '@bakehouse/contract/audit';
import { grantCredits, transferTokens } from '@bakehouse/contract/credits';
import { beforeAll, describe, expect, test } from 'vitest';
import { testServer } from '../../testing/test-server.ts';
import { signUpPeople } from './testing/sign-up-people.ts';

const server = await testServer();
const { request, services } = server;
const { olga, ada, bob } = await signUpPeople(server);

beforeAll(async () => {
  await request(grantCredits, { body: { recipient_id: ada.userId, amount: '100' } }, { as: olga });
  for (let n = 0; n < 20; n += 1) await makeAsset();
  const body = { user_id: ada.userId, recipient_id: bob.userId, amount: '2' };
  await request(transferTokens, { body }, { as: ada });
});

const makeAsset = () =>
  request(createAsset, { body: { dataset_type: 'RAW', title: 'thing', user_id: ada.userId } }, { as: ada });
const audit = (query: Parameters<typeof request<typeof listAudit>>[1]['query'] = {}) =>
  request(listAudit, { query }, { as: olga });

describe('the list', () => {
  test('continues after a page that contains no ledger entries', async () => {
    await makeAsset();
    const { next_cursor } = await audit({ limit: 1 });
    expect((await audit({ limit: 1, cursor: next_cursor ?? undefined })).entries).toHaveLength(1);
  });

  test('has pages without gaps or repetitions, including ledger entries', async () => {
    const whole = (await audit({ limit: 200 })).entries;
    expect(whole.length).toBeGreaterThan(20);
    expect(whole.map(({ at }) => at)).toEqual(
      whole
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(new Set(whole.map(({ entry_id }) => entry_id)).size).toBe(whole.length);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await audit({ limit: 7, cursor });
      paged.push(...page.entries.map(({ entry_id }) => entry_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && paged.length < 200);
    expect(paged).toEqual(whole.slice(0, paged.length).map(({ entry_id }) => entry_id));
    const sent = whole.find(({ action }) => action === 'credits.sent');
    expect(sent).toMatchObject({
      user_id: ada.userId,
      username: expect.stringMatching(/^ada/),
      detail: { recipient_id: bob.userId, amount: '2' },
    });
  });

  test("is filtered by noun, and by a user's id or email address", async () => {
    for (const user of [olga.email, olga.userId]) {
      const { entries } = await audit({ user, limit: 200 });
      expect(new Set(entries.map((entry) => entry.user_id))).toEqual(new Set([olga.userId]));
    }
    const { entries } = await audit({ noun: 'credits', user: ada.userId });
    expect(new Set(entries.map(({ action }) => action))).toEqual(new Set(['credits.sent']));
    expect(await audit({ user: 'nobody' })).toEqual({ entries: [], next_cursor: null });
  });

  test('is filtered by the id of a deleted account', async () => {
    const dora = await server.signUp('Dora');
    await services.db.insertInto('audit_log').values({ action: 'oven.lit', user_id: dora.userId }).execute();
    await services.db
      .updateTable('users')
      .set({ deleted_at: new Date() })
      .where('id', '=', dora.userId)
      .execute();
    const { entries } = await audit({ user: dora.userId, noun: 'oven' });
    expect(entries).toEqual([
      expect.objectContaining({ action: 'oven.lit', user_id: dora.userId, username: null }),
    ]);
  });

  test('contains every entry exactly once across pages, even if transactions finish in another order than they start', async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
    for (const [action, second] of [['door.opened', 2] as const, ['door.closed', 1] as const])
      await services.db
        .insertInto('audit_log')
        .values({ action, at: at(second) })
        .execute();
    const first = await audit({ noun: 'door', limit: 1 });
    const second = await audit({ noun: 'door', limit: 1, cursor: first.next_cursor ?? undefined });
    const actions = [...first.entries, ...second.entries].map(({ action }) => action);
    expect(actions.toSorted()).toEqual(['door.closed', 'door.opened']);
    expect(second.next_cursor).toBeNull();
  });
});
