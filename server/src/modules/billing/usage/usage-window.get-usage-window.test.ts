import { randomUUID } from 'node:crypto';
import { getUsageWindow, listTransactions } from '@bakehouse/contract/credits';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';

test('the statement has one line per window, with its answers as details', async () => {
  const server = await testServer();
  const ada = await server.signUp('Ada');
  const { usage } = server.app;
  const reserve = () =>
    usage.reserve({
      userId: ada.userId,
      keyId: null,
      use: 'llm_inference',
      source: 'model:crumb',
      description: 'Tokens of crumb',
      references: { asset_name: 'crumb' },
      unitPrices: [1n],
      priceMicro: 1_000n,
    });
  const list = async () => {
    const { transactions } = await server.request(
      listTransactions,
      { params: { userId: ada.userId }, query: {} },
      { as: ada },
    );
    return transactions.filter(({ usage_window_id }) => usage_window_id !== null);
  };
  for (let tokens = 1; tokens <= 3; tokens += 1) {
    (await reserve()).settle({
      id: randomUUID(),
      at: new Date(),
      amountMicro: BigInt(tokens),
      quantities: { completion_tokens: tokens },
    });
  }
  expect(await list()).toMatchObject([{ status: 'pending', asset_name: 'crumb' }]);
  await usage.closeIdle();
  const lines = await list();
  expect(lines).toMatchObject([{ status: 'completed', amount: '0.000006', description: 'Tokens of crumb' }]);

  const params = { windowId: lines[0]?.usage_window_id ?? '' };
  const first = await server.request(getUsageWindow, { params, query: { limit: 2 } }, { as: ada });
  expect(first).toMatchObject({ source: 'model:crumb', answers_total: 3, used: '0.000006' });
  expect(first.closed_at).not.toBeNull();
  expect(first.answers).toMatchObject([
    { amount: '0.000003', quantities: { completion_tokens: 3 } },
    { amount: '0.000002', quantities: { completion_tokens: 2 } },
  ]);
  const cursor = first.next_cursor ?? '';
  const rest = await server.request(getUsageWindow, { params, query: { limit: 2, cursor } }, { as: ada });
  expect(rest).toMatchObject({ answers: [{ amount: '0.000001' }], next_cursor: null });
});
