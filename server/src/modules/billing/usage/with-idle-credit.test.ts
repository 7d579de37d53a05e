import { randomUUID } from 'node:crypto';
import { transferTokens } from '@bakehouse/contract/credits';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { getUserTotals } from '../queries.ts';
import { buyForTest } from '../testing/test-user.ts';

test('the unused hold of an idle window can be sent, and the hold of a window in use cannot', async () => {
  const server = await testServer({ config: { startingGrantBgl: '0' } });
  const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
  const { db } = server.services;
  await buyForTest(db, ada.userId, 5_000_000n);
  const place = await server.app.usage.reserve({
    userId: ada.userId,
    keyId: null,
    use: 'llm_inference',
    source: 'model:crumb',
    description: 'Tokens of crumb',
    references: { asset_name: 'crumb' },
    unitPrices: [1n],
    priceMicro: 1_000_000n,
  });
  const send = (amount: string) =>
    server.request(
      transferTokens,
      { body: { user_id: ada.userId, recipient_id: bob.userId, amount } },
      { as: ada, idempotencyKey: randomUUID() },
    );
  await expect(send('4')).rejects.toMatchObject({ code: 'insufficient_funds' });
  place.settle({ id: randomUUID(), at: new Date(), amountMicro: 1_000_000n, quantities: {} });
  await expect(send('4.000001')).rejects.toMatchObject({ code: 'insufficient_funds' });
  await send('4');
  expect(await getUserTotals(db, ada.userId)).toEqual({ balance: 0n, held: 0n, given: 0n, owed: 0n });
});
