import { deleteAccount } from '@bakehouse/contract/privacy';
import { expect, test } from 'vitest';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { password } from '../../testing/auth-client.ts';
import { testServer } from '../../testing/test-server.ts';
import { LOSSES_ACCOUNT, receivableAccount } from '../billing/ledger/accounts.ts';
import { chargeBack } from '../billing/ledger/given-credits.ts';
import { lockTotals } from '../billing/steps.ts';
import { verifyLedger } from '../billing/verification/verify-ledger.ts';
import { purgeUser } from './purge-user.ts';

const server = await testServer();
const { db } = server.services;

test('the purge writes off chargebacks made after the deletion', async () => {
  const { userId, cookie } = await server.signUp('Hal');
  await server.request(deleteAccount, { body: { password } }, { headers: { cookie } });
  const taken = { userId, amountMicro: 5_000_000_000n, description: 'Taken back', idempotencyKey: null };
  await inTransaction(db, (tx) => chargeBack(tx, taken));
  const { owed } = await inTransaction(db, (tx) => lockTotals(tx, userId));
  expect(owed).toBeGreaterThan(0n);

  expect(await purgeUser(server.services, userId)).toBe(true);
  expect(await inTransaction(db, (tx) => lockTotals(tx, userId))).toMatchObject({ owed: 0n });
  const paid = await db
    .selectFrom('ledger_transfers')
    .select('amount')
    .where('debit_account_id', '=', LOSSES_ACCOUNT)
    .where('credit_account_id', '=', receivableAccount(userId))
    .execute();
  expect(paid).toEqual([{ amount: owed }]);
  expect(await verifyLedger(db)).toMatchObject({ ok: true });
});
