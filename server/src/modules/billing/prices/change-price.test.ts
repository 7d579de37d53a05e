import { listAudit } from '@bakehouse/contract/audit';
import { listPrices } from '@bakehouse/contract/credits';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { changePrice, listPriceChanges } from '@bakehouse/contract/prices';
import { beforeEach, describe, expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import { testServer } from '../../../testing/test-server.ts';
import { createPriceCache } from './read-prices.ts';

const PRICE = 'training:CPU';
const clock = fakeClock(new Date('2030-01-01T00:00:00Z'));
const server = await testServer({ clock });
const operator = await signUpOperator(server);

type Body = CallOf<typeof changePrice>['body'];
const change = (body: Partial<Body>) =>
  server.request(changePrice, { body: { price_id: PRICE, unit_price: '3', ...body } }, { as: operator });
const priceOf = async (id = PRICE) =>
  (await server.request(listPrices, {})).prices.find((price) => price.id === id);
const history = async (query: CallOf<typeof listPriceChanges>['query'] = {}) =>
  server.request(listPriceChanges, { query }, { as: operator });
const afterDays = (days: number) =>
  new Date(clock.now().getTime() + days * 24 * 60 * 60 * 1000).toISOString();

beforeEach(async () => {
  await server.services.db.deleteFrom('price_changes').execute();
});

describe('a price', () => {
  test('changes immediately, with an entry in the history and in the audit log', async () => {
    expect(await priceOf()).toMatchObject({ unit_price: '2.5', next: null });
    await change({ unit_price: '2.75' });
    await change({ unit_price: '0.000001' });
    expect(await priceOf()).toMatchObject({ unit_price: '0.000001', next: null });
    expect((await history()).changes).toMatchObject([
      { price_id: PRICE, unit_price: '0.000001', previous: '2.75', withdrawn_at: null },
      { price_id: PRICE, unit_price: '2.75', previous: '2.5', changed_by: expect.any(String) },
    ]);
    const { entries } = await server.request(listAudit, { query: { noun: 'price' } }, { as: operator });
    expect(entries[0]).toMatchObject({
      action: 'price.changed',
      user_id: operator.userId,
      detail: { price_id: PRICE, previous: '2.75', unit_price: '0.000001' },
    });
  });

  test('changes at a future time, announced in advance', async () => {
    const valid_from = afterDays(2);
    await change({ unit_price: 3, valid_from });
    expect(await priceOf()).toMatchObject({ unit_price: '2.5', next: { unit_price: '3', valid_from } });
    clock.advance({ days: 2 });
    expect(await priceOf()).toMatchObject({ unit_price: '3', next: null });
  });

  test('has at most one pending change: a new change replaces it', async () => {
    await change({ unit_price: '4', valid_from: afterDays(2) });
    await change({ unit_price: '5', valid_from: afterDays(3) });
    expect(await priceOf()).toMatchObject({ unit_price: '2.5', next: { unit_price: '5' } });
    // A change to the current price withdraws the pending change and changes nothing else.
    await change({ unit_price: '2.5' });
    clock.advance({ days: 4 });
    expect(await priceOf()).toMatchObject({ unit_price: '2.5', next: null });
    expect((await history()).changes.map(({ withdrawn_at }) => withdrawn_at !== null)).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('applies concurrent changes of several operators one after the other', async () => {
    const amounts = ['10', '11', '12', '13', '14'];
    await Promise.all(amounts.map((unit_price) => change({ unit_price })));
    const { changes } = await history();
    const [latest] = changes;
    expect(await priceOf()).toMatchObject({ unit_price: latest?.unit_price });
    // Each change has seen the price that the one before has set.
    expect(changes.map(({ previous }) => previous)).toEqual([
      ...changes.slice(1).map(({ unit_price }) => unit_price),
      '2.5',
    ]);
  });

  test('applies in every process as soon as the call returns, even if prices are cached', async () => {
    const other = await testServer({
      clock,
      database: { url: server.databaseUrl, close: async () => undefined },
      config: { dataDir: server.services.config.dataDir },
    });
    const recalls = [createPriceCache(server.services), createPriceCache(other.services)];
    for (const recall of recalls) expect((await recall())[PRICE].unitPriceMicro).toBe(2_500_000n);
    await change({ unit_price: '7' });
    await other.services.rowChanges.catchUp();
    for (const recall of recalls) expect((await recall())[PRICE].unitPriceMicro).toBe(7_000_000n);
    // The cache already contains the future change, so it needs no notification when the change takes effect.
    await change({ unit_price: '8', valid_from: afterDays(1) });
    await other.services.rowChanges.catchUp();
    for (const recall of recalls) expect((await recall())[PRICE].unitPriceMicro).toBe(7_000_000n);
    clock.advance({ days: 1 });
    for (const recall of recalls) expect((await recall())[PRICE].unitPriceMicro).toBe(8_000_000n);
  });

  test('is shown in the history by its id after it was removed from the list', async () => {
    await change({ unit_price: '3' });
    await server.services.db.updateTable('price_changes').set({ price_id: 'training:ABACUS' }).execute();
    expect((await history()).changes).toMatchObject([
      { price_id: 'training:ABACUS', label: 'training:ABACUS', unit: null, unit_price: '3' },
    ]);
  });

  test('has a paged history', async () => {
    for (const unit_price of ['3', '4', '5']) await change({ unit_price });
    const first = await history({ limit: 2 });
    const rest = await history({ limit: 2, cursor: first.next_cursor ?? undefined });
    expect([...first.changes, ...rest.changes].map(({ unit_price }) => unit_price)).toEqual(['5', '4', '3']);
    expect(rest.next_cursor).toBeNull();
  });
});

test.each<[Partial<Body>, string]>([
  [{ price_id: 'bread' }, 'price_id'],
  [{ price_id: 'constructor' }, 'price_id'],
  [{ unit_price: '0' }, 'unit_price'],
  [{ unit_price: '-1' }, 'unit_price'],
  [{ unit_price: '1.1234567' }, 'unit_price'],
  [{ unit_price: '100000.000001' }, 'unit_price'],
  [{ unit_price: 'much' }, 'unit_price'],
  [{ unit_price: '2.5' }, 'unit_price'],
  [{ valid_from: 'tomorrow' }, 'valid_from'],
  [{ valid_from: '2000-01-01T00:00:00Z' }, 'valid_from'],
  [{ valid_from: '2999-01-01T00:00:00Z' }, 'valid_from'],
])('rejects %j without a change', async (body, param) => {
  await expect(change(body)).rejects.toMatchObject({ status: 400, body: { error: { param } } });
  expect((await history()).changes).toEqual([]);
});
