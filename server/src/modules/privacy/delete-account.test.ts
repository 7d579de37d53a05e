import { deleteAccount } from '@bakehouse/contract/privacy';
import { expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { password } from '../../testing/auth-client.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { hold } from '../billing/ledger/holds/holds.ts';
import { buyForTest } from '../billing/testing/test-user.ts';

const server = await testServer();
const { db } = server.services;

const remove = (who: TestUser, body: object = {}) =>
  server.request(deleteAccount, { body: { password, ...body } }, { headers: { cookie: who.cookie } });

test('reports the transferable credits, and the other credits as held by running work', async () => {
  const ada = await server.signUp('Ada');
  await buyForTest(db, ada.userId, 100_000_000n);
  await inTransaction(db, (tx) =>
    hold(tx, {
      userId: ada.userId,
      // All starting credits, and 80 of the bought credits.
      amountMicro: 205_000_000n,
      kind: 'fine_tuning',
      description: 'Training',
      expiresAt: new Date(Date.now() + 3_600_000),
      idempotencyKey: `leaving:${ada.userId}`,
    }),
  );
  const message = (said: string) => ({ body: { error: { message: said, param: 'give_up_max' } } });
  await expect(remove(ada)).rejects.toMatchObject(
    message(
      '20 BGL can still be transferred, and running work holds another 80 BGL. Transfer what you can and stop the work, or forfeit everything',
    ),
  );
  await expect(remove(ada, { give_up_max: '20' })).rejects.toMatchObject(
    message(
      'You agreed to forfeit 20 BGL, but 20 BGL can be transferred now, and running work holds another 80 BGL. Transfer what you can and stop the work, or forfeit everything',
    ),
  );
  await remove(ada, { give_up_max: '100' });
});
