import { getUsageWindow, listTransactions } from '@bakehouse/contract/credits';
import { quoteVllm } from '@bakehouse/contract/deployments/text';
import { parseBgl } from '@bakehouse/contract/money';
import { changePrice } from '@bakehouse/contract/prices';
import { beforeEach, expect, test, vi } from 'vitest';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { meterDeployments } from '../deployments/metering/meter-deployments.ts';
import { STARTER, starterServing } from '../deployments/testing/starter-serving.ts';
import { stubUsage } from '../deployments/testing/stub-model-server.ts';

/* A price change does not affect running work, and applies to work that starts afterwards. */

const { server, clock, stub, ask, nextUser, balance, makeFineTune, deploy, status, untilRunning, terminate } =
  await starterServing();
const operator = await signUpOperator(server);
let user: TestUser;

beforeEach(async () => {
  await server.services.db.deleteFrom('price_changes').execute();
  await server.services.rowChanges.catchUp();
  user = await nextUser();
});

const setPrice = (price_id: string, unit_price: string) =>
  server.request(changePrice, { body: { price_id, unit_price } }, { as: operator });

/**
 * Returns the statement's lines for tokens, cheapest first: the amount of each line and of its answers, in
 * micro-BGL.
 */
async function tokenLines() {
  const call = { params: { userId: user.userId }, query: {} };
  const { transactions } = await server.request(listTransactions, call, { as: user });
  const lines = await Promise.all(
    transactions.map(async ({ usage_window_id, amount }) => {
      if (usage_window_id === null) return [];
      const asked = { params: { windowId: usage_window_id }, query: {} };
      const { answers } = await server.request(getUsageWindow, asked, { as: user });
      return [{ amount: parseBgl(amount), answers: answers.map((answer) => parseBgl(answer.amount)) }];
    }),
  );
  return lines.flat().toSorted((a, b) => Number(a.amount - b.amount));
}

test('charges an answer at the price when it started, and opens another usage window for a new price', async () => {
  let open = () => {};
  stub.gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const before = await balance();
  const reserve = vi.spyOn(server.app.usage, 'reserve');
  // The prices change while both answers wait for the model. Afterwards, prompt tokens cost more than
  // completion tokens.
  const early = [ask(STARTER), ask(STARTER)];
  // Both answers have reserved credit at the old prices.
  await vi.waitFor(() => expect(reserve).toHaveBeenCalledTimes(2));
  await setPrice('prompt_tokens:CPU', '7');
  await setPrice('completion_tokens:CPU', '5');
  open();
  await Promise.all(early);
  await ask(STARTER);
  await vi.waitFor(async () => expect((await balance()).held).toBe(0n));

  // Expected costs by hand: 11 prompt tokens at 0.5 and 4 completion tokens at 2 micro-BGL, each sum rounded
  // up. Then 11 at 7 and 4 at 5.
  expect(stubUsage).toMatchObject({ prompt_tokens: 11, completion_tokens: 4 });
  const [cheap, dear] = [6n + 8n, 77n + 20n];
  expect(await tokenLines()).toEqual([
    { amount: 2n * cheap, answers: [cheap, cheap] },
    { amount: dear, answers: [dear] },
  ]);
  expect((await balance()).balance).toBe(before.balance - 2n * cheap - dear);
});

test("keeps the price of a deployment's paid hour, and charges the new price from the next hour on", async () => {
  const modelId = await makeFineTune(user, 'Dear Crumb');
  const { pod_id } = await deploy(modelId);
  await untilRunning(pod_id);
  expect((await balance()).held).toBe(parseBgl('1.25'));
  const before = (await balance()).balance;

  await setPrice('text_serving:CPU', '6');
  const body = { model_id: modelId, user_id: user.userId };
  expect(await server.request(quoteVllm, { body }, { as: user })).toMatchObject({
    price_per_hour: '6',
    hold: '6',
  });
  expect(await status(pod_id)).toMatchObject({ price_per_hour: '1.25' });
  // The hour that ends here is charged at the price of its hold.
  const used = { unsettled_ms: 59n * 60_000n, metered_at: clock.now() };
  await server.services.db.updateTable('deployments').set(used).where('id', '=', pod_id).execute();
  await meterDeployments(server.services);
  const settled = (parseBgl('1.25') * 59n + 59n) / 60n;
  expect(await balance()).toEqual({ balance: before - settled, held: parseBgl('6') });
  expect(await status(pod_id)).toMatchObject({ price_per_hour: '6' });

  clock.advance({ minutes: 1 });
  const ended = await terminate(pod_id);
  expect(parseBgl(ended.cost_so_far)).toBe(settled + parseBgl('0.1'));
});

test('shows the future price of a sleeping model', async () => {
  const { pod_id } = await deploy(await makeFineTune(user, 'Sleepy Crumb'));
  await untilRunning(pod_id);
  await server.services.db
    .updateTable('deployments')
    .set({ last_request_at: new Date(0), ready_at: new Date(0) })
    .where('id', '=', pod_id)
    .execute();
  await meterDeployments(server.services);
  expect(await status(pod_id)).toMatchObject({ status: 'sleeping', price_per_hour: '1.25' });
  await setPrice('text_serving:CPU', '2');
  expect(await status(pod_id)).toMatchObject({ price_per_hour: '2' });
});
