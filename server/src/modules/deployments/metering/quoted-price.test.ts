import { imageCalls } from '@bakehouse/contract/deployments/images';
import { deployVllm, quoteVllm } from '@bakehouse/contract/deployments/text';
import { changePrice } from '@bakehouse/contract/prices';
import { afterEach, expect, test } from 'vitest';
import { signUpOperator } from '../../../testing/sign-up-operator.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { endDeployment } from '../end-deployment.ts';
import { listLivePodIds } from '../kinds/list-live-pod-ids.ts';
import { starterServing } from '../testing/starter-serving.ts';
import { insertFlux } from '../testing/test-models.ts';

const { serving, server, nextUser, makeFineTune } = await starterServing();
const operator = await signUpOperator(server);
const user = await nextUser();

afterEach(async () => {
  const { db } = server.services;
  await db.deleteFrom('price_changes').execute();
  for (const podId of await listLivePodIds(db, user.userId))
    await endDeployment(server.services, podId, { reason: 'The test has ended', endedBy: null });
});

const makeFlux = async (owner: TestUser, title: string) =>
  (await insertFlux(server.services, owner, title)).assetId;
const serverCount = async () => {
  const rows = await server.services.db.selectFrom('model_servers').select('id').execute();
  return rows.length;
};

test.each([
  ['text', 'text_serving:CPU', makeFineTune, quoteVllm, deployVllm],
  ['FLUX', 'image_serving:CPU', makeFlux, imageCalls.flux.quote, imageCalls.flux.deploy],
  [
    'Kontext',
    'image_serving:CPU',
    makeFlux,
    imageCalls['flux-kontext'].quote,
    imageCalls['flux-kontext'].deploy,
  ],
] as const)(
  'a %s deployment costs at most the quoted price, and can be requested again at the new price',
  async (kind, price_id, make, quote, deploy) => {
    const body = { model_id: await make(user, `Priced ${kind}`), user_id: user.userId };
    const start = async (cost_max: string) =>
      (
        await server.request(
          deploy as typeof imageCalls.flux.deploy,
          { body: { ...body, cost_max } },
          { as: user, idempotencyKey: `priced-${kind}` },
        )
      ).pod_id;
    const { price_per_hour, sleeps_after_minutes } = await server.request(
      quote as typeof imageCalls.flux.quote,
      { body },
      { as: user },
    );
    expect(sleeps_after_minutes).toBe(server.services.config.idleMinutes);
    await server.request(changePrice, { body: { price_id, unit_price: '12.5' } }, { as: operator });
    const before = await serverCount();
    await expect(start(price_per_hour)).rejects.toMatchObject({
      status: 409,
      code: 'conflict',
      body: {
        error: {
          message: 'The price has changed: an hour of this deployment now costs 12.5 BGL',
          param: 'cost_max',
        },
      },
    });
    expect(await listLivePodIds(server.services.db, user.userId)).toEqual([]);
    expect(await serverCount()).toBe(before);
    expect((await serving.balance(user)).held).toBe(0n);

    const podId = await start('12.5');
    expect((await serving.balance(user)).held).toBe(12_500_000n);
    // The client has missed the response and repeats the call after another change of the price.
    expect(await start('0')).toBe(podId);
    await expect(
      server.request(
        quote as typeof imageCalls.flux.quote,
        { body: { ...body, cost_max: '1' } as never },
        { as: user },
      ),
    ).rejects.toThrow('Unknown field: cost_max');
  },
);
