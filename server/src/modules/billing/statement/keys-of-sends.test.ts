import { createApiKey } from '@bakehouse/contract/api-keys';
import { listSpend, transferTokens } from '@bakehouse/contract/credits';
import { listNotifications } from '@bakehouse/contract/notifications';
import { exportData } from '@bakehouse/contract/privacy';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { creditsServer } from '../testing/credits-server.ts';
import { sealTransfers } from '../verification/chain.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';

const { server, db, signUp, statementOf, send } = await creditsServer();

const spendOf = (who: TestUser) =>
  server.request(listSpend, { params: { userId: who.userId }, query: {} }, { as: who });

/** Ada sends Bob 2 BGL with her additional key and 3 without it. Then Bob reads his statement. */
async function sentByKey() {
  const [ada, bob] = [await signUp('Ada'), await signUp('Bob')];
  const made = { params: { userId: ada.userId }, body: { name: 'Tip jar' } };
  const { api_key, secret } = await server.request(createApiKey, made, { as: ada });
  const body = { user_id: ada.userId, recipient_id: bob.userId, amount: '2' };
  await server.request(transferTokens, { body }, { as: { ...ada, apiKey: secret } });
  await send(ada, bob.userId, 3);
  return { ada, bob, keyId: api_key.id };
}

describe('the API key of a send', () => {
  test("is sealed, and appears in its sender's statement and spending", async () => {
    const { ada, keyId } = await sentByKey();
    const { transactions, summary } = await statementOf(ada, { key_id: keyId });
    expect(transactions).toMatchObject([{ transaction_type: 'transfer', amount: '2' }]);
    expect(summary).toMatchObject({ total_token_transferred: '2', total_cost_llm_inference: '0' });
    const { days, keys } = await spendOf(ada);
    expect(days).toEqual([]);
    expect(keys).toContainEqual({ key_id: keyId, key_name: 'Tip jar', amount: '0', sent: '2' });
    expect(keys.map(({ sent }) => sent)).toEqual(['3', '2']);
    await sealTransfers(db);
    expect((await verifyLedger(db)).checks.filter(({ ok }) => !ok)).toEqual([]);
    await sql`alter table ledger_transfers disable trigger user`.execute(db);
    await sql`update ledger_transfers set refs = '{}' where refs ->> 'key_id' = ${keyId}`.execute(db);
    await sql`alter table ledger_transfers enable trigger user`.execute(db);
    expect((await verifyLedger(db)).checks.filter(({ ok }) => !ok)).toMatchObject([
      { name: 'totals' },
      { name: 'chain' },
    ]);
  });

  test('is hidden from the recipient', async () => {
    const { bob, keyId } = await sentByKey();
    const all = await statementOf(bob);
    expect(all.transactions.map(({ amount }) => amount)).toEqual(['3', '2', '125']);
    // The answer is the same as for a key that does not exist.
    expect(await statementOf(bob, { key_id: keyId })).toMatchObject({
      transactions: [],
      summary: { total_token_transferred: '0' },
    });
    expect((await spendOf(bob)).keys).toEqual([]);
    const file = await server.send(exportData, {}, { headers: { cookie: bob.cookie } });
    const told = await server.request(listNotifications, { params: { userId: bob.userId } }, { as: bob });
    const seen = `${JSON.stringify([all, told])}${await file.text()}`;
    expect(seen).toContain(bob.userId);
    expect(seen).not.toContain(keyId);
  });
});
