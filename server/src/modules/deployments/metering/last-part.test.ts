import { createApiKey } from '@bakehouse/contract/api-keys';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { changePrice } from '@bakehouse/contract/prices';
import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { availableMicro } from '../../billing/ledger/available-micro.ts';
import { hold, release } from '../../billing/ledger/holds/holds.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { insertFineTune, insertStarter } from '../testing/test-models.ts';
import { meterDeployments } from './meter-deployments.ts';

const costOf = (minutes: bigint) =>
  costMicro([{ price: defaultPrice('text_serving:CPU'), parts: minutes * 60_000n }]);

let serving: TestServing;
let starter: { assetId: string; revisionId: string };

beforeAll(async () => {
  serving = await testServing();
  starter = await insertStarter(serving.server.services, 'starter-model');
});

async function deployed(owner: TestUser, title: string): Promise<string> {
  const podId = await serving.deploy(
    owner,
    await insertFineTune(serving.server.services, starter, owner, title),
  );
  await serving.untilRunning(owner, podId);
  return podId;
}

/** Simulates that the deployment has served for some minutes under its hold. */
async function use(podId: string, minutes: bigint): Promise<void> {
  await serving.server.services.db
    .updateTable('deployments')
    .set({ unsettled_ms: minutes * 60_000n, metered_at: serving.clock.now() })
    .where('id', '=', podId)
    .execute();
}

test('uses up the rest of a budget that does not cover an hour', async () => {
  const { server } = serving;
  const owner = await server.signUp();
  const budget = { amount: formatBgl(costOf(90n)), period: 'total' as const };
  const made = { params: { userId: owner.userId }, body: { name: 'robot', budget } };
  const { secret } = await server.request(createApiKey, made, { as: owner });
  const podId = await deployed({ ...owner, apiKey: secret }, 'Last Loaf');

  await use(podId, 59n);
  await meterDeployments(server.services);
  expect(await serving.status(owner, podId)).toMatchObject({ status: 'running' });
  // The hold contains the rest of the budget, except for rounding to whole milliseconds.
  const { held } = await serving.balance(owner);
  expect(held).toBeLessThanOrEqual(costOf(90n) - costOf(59n));
  expect(held).toBeGreaterThan(costOf(31n) - 10n);

  await use(podId, 30n);
  await meterDeployments(server.services);
  expect(await serving.status(owner, podId)).toMatchObject({
    status: 'terminated',
    cost_so_far: formatBgl(costOf(59n) + costOf(30n)),
    reason: expect.stringMatching(/^The budget of the API key 'robot'/),
  });
});

test('charges time beyond a held hour from the last, shorter hold, at the price when it was served', async () => {
  const { server } = serving;
  const owner = await server.signUp();
  const budget = { amount: formatBgl(costOf(110n)), period: 'total' as const };
  const made = { params: { userId: owner.userId }, body: { name: 'robot', budget } };
  const { secret } = await server.request(createApiKey, made, { as: owner });
  const podId = await deployed({ ...owner, apiKey: secret }, 'Late Loaf');
  const operator = await signUpOperator(server);
  const dearer = { price_id: 'text_serving:CPU' as const, unit_price: '12.5' };
  await server.request(changePrice, { body: dearer }, { as: operator });

  await use(podId, 70n);
  await meterDeployments(server.services);
  expect(await serving.status(owner, podId)).toMatchObject({
    status: 'running',
    cost_so_far: formatBgl(costOf(60n) + costOf(10n)),
  });
  // The last 15 of these minutes have no hold, so they are not charged.
  await use(podId, 55n);
  await meterDeployments(server.services);
  const ended = await serving.status(owner, podId);
  expect(ended).toMatchObject({ status: 'terminated', stop_reason: 'budget' });
  const charged = parseBgl(ended.cost_so_far);
  expect(charged).toBeLessThanOrEqual(costOf(110n));
  expect(charged).toBeGreaterThan(costOf(110n) - 10n);
  await server.services.db.deleteFrom('price_changes').execute();
});

test('releases the holds of idle usage windows before a deployment ends', async () => {
  const { server, clock } = serving;
  const { services } = server;
  const owner = await server.signUp();
  const podId = await deployed(owner, 'Idle Loaf');
  const amountMicro = await availableMicro(services.db, owner.userId);
  const { holdId } = await inTransaction(services.db, (tx) =>
    hold(tx, {
      userId: owner.userId,
      amountMicro,
      kind: 'llm_inference',
      description: 'Chat',
      expiresAt: new Date(clock.now().getTime() + 3_600_000),
      idempotencyKey: `idle:${owner.userId}`,
    }),
  );
  await use(podId, 59n);
  await meterDeployments(services, {
    closeIdle: async (userId) => {
      if (userId !== owner.userId) return 0;
      await inTransaction(services.db, (tx) => release(tx, { holdId }));
      return 1;
    },
  });
  expect(await serving.status(owner, podId)).toMatchObject({ status: 'running' });
  expect((await serving.balance(owner)).held).toBe(costOf(60n));
  await serving.terminate(owner, podId);
});
