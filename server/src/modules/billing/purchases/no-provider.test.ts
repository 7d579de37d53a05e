import { randomUUID } from 'node:crypto';
import { listPurchases, startPurchase } from '@bakehouse/contract/purchases';
import { expect, test } from 'vitest';
import { creditsServer } from '../testing/credits-server.ts';

const { server } = await creditsServer();

test('sells nothing and has no webhook without a payment provider', async () => {
  const ada = await server.signUp('Ada');
  const { can_buy } = await server.request(listPurchases, { params: { userId: ada.userId } }, { as: ada });
  expect(can_buy).toBe(false);
  const call = { body: { user_id: ada.userId, usd: '5' } };
  await expect(
    server.request(startPurchase, call, { as: ada, idempotencyKey: randomUUID() }),
  ).rejects.toMatchObject({
    status: 409,
  });
  const answer = await fetch(new URL('/api/payments/stripe', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  expect(answer.status).toBe(404);
});
