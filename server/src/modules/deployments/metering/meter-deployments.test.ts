import { createApiKey } from '@bakehouse/contract/api-keys';
import { listVllm, vllmStats } from '@bakehouse/contract/deployments/text';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { listNotifications } from '@bakehouse/contract/notifications';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { revenueAccount, userAccount } from '../../billing/ledger/accounts.ts';
import { transfer } from '../../billing/ledger/transfer.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { starterServing } from '../testing/starter-serving.ts';
import { meterDeployments } from './meter-deployments.ts';

const hourCost = costMicro([{ price: defaultPrice('text_serving:CPU'), parts: 3_600_000n }]);

const {
  stub,
  server,
  clock,
  driver,
  nextUser,
  ask,
  makeFineTune,
  deploy,
  status,
  untilRunning,
  terminate,
  balance,
} = await starterServing();
let user: TestUser;

beforeEach(async () => {
  user = await nextUser();
});

/** Returns the user's notifications, oldest first. */
const notificationsOf = async (as: TestUser) => {
  const listed = await server.request(
    listNotifications,
    { params: { userId: as.userId }, query: {} },
    { as },
  );
  return listed.toReversed();
};

describe('the time of a deployment', () => {
  it('is charged while a fine-tune is served as an adapter on a shared base', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Crumb Expert'));
    expect((await balance()).held).toBe(hourCost);
    await untilRunning(pod_id);
    const answer = await ask('crumb-expert');
    expect(answer.choices[0]?.message.content).toBe('Good bread.');
    expect(stub.requests.at(-1)?.lora).toContainEqual({ id: expect.any(Number), scale: 1 });

    clock.advance({ minutes: 1 });
    await meterDeployments(server.services);
    clock.advance({ minutes: 1 });
    const before = await balance();
    const ended = await terminate(pod_id);
    expect(ended).toMatchObject({ status: 'terminated', stop_reason: null, cost_so_far: '0.041667' });
    expect(await balance()).toEqual({ balance: before.balance - parseBgl('0.041667'), held: 0n });
    await expect(ask('crumb-expert')).rejects.toMatchObject({ status: 404 });
  });

  it('does not start without credit for the first hour, and leaves nothing', async () => {
    const poor = await server.signUp();
    await server.services.db.transaction().execute(async (tx) => {
      await transfer(tx, {
        debitAccountId: userAccount(poor.userId),
        creditAccountId: revenueAccount('fine_tuning'),
        amountMicro: (await balance(poor)).balance - hourCost + 1n,
        kind: 'charge',
        description: 'All but too much',
        idempotencyKey: null,
      });
    });
    const model = await makeFineTune(poor, 'Too Dear');
    await expect(deploy(model, poor)).rejects.toMatchObject({
      status: 402,
      body: { error: { required_amount: '1.25', available_amount: '1.249999' } },
    });
    const { pods } = await server.request(
      listVllm,
      { params: { userId: poor.userId }, query: { include_terminated: 'true' } },
      { as: poor },
    );
    expect(pods).toEqual([]);
  });

  it('ends when the credit does', async () => {
    const guest = await server.signUp();
    const { pod_id } = await deploy(await makeFineTune(guest, 'Long Talk'), guest);
    await untilRunning(pod_id, guest);
    await server.services.db.transaction().execute(async (tx) => {
      const { balance: all, held } = await balance(guest);
      await transfer(tx, {
        debitAccountId: userAccount(guest.userId),
        creditAccountId: revenueAccount('fine_tuning'),
        amountMicro: all - held,
        kind: 'charge',
        description: 'Everything',
        idempotencyKey: null,
      });
    });
    // Use the held hour except for its last minutes.
    await server.services.db
      .updateTable('deployments')
      .set({ unsettled_ms: 57n * 60_000n })
      .where('id', '=', pod_id)
      .execute();
    clock.advance({ minutes: 1 });
    await meterDeployments(server.services);
    const ended = await status(pod_id, guest);
    expect(ended).toMatchObject({
      status: 'terminated',
      reason: expect.stringContaining('You ran out of credit'),
      stop_reason: 'credits',
    });
    expect(await notificationsOf(guest)).toMatchObject([
      { kind: 'deployment_ready' },
      {
        kind: 'deployment_stopped',
        message: 'The deployment of Long Talk stopped because your credits ran out',
        link: `/my-deployments/${pod_id}`,
      },
    ]);
    const left = await balance(guest);
    expect(left.held).toBe(0n);
    expect(left.balance).toBe(hourCost - parseBgl(ended.cost_so_far));
  });

  it('ends with the budget of the API key that created it, and names the key', async () => {
    const guest = await server.signUp();
    const budget = { amount: formatBgl(hourCost), period: 'total' as const };
    const made = { params: { userId: guest.userId }, body: { name: 'robot', budget } };
    const { secret } = await server.request(createApiKey, made, { as: guest });
    const modelId = await makeFineTune(guest, 'Robot Talk');
    const { pod_id } = await deploy(modelId, { ...guest, apiKey: secret });
    await untilRunning(pod_id, guest);
    await server.services.db
      .updateTable('deployments')
      .set({ unsettled_ms: 57n * 60_000n })
      .where('id', '=', pod_id)
      .execute();
    clock.advance({ minutes: 1 });
    await meterDeployments(server.services);
    expect(await status(pod_id, guest)).toMatchObject({
      status: 'terminated',
      reason: expect.stringMatching(/^The budget of the API key 'robot'/),
      stop_reason: 'budget',
    });
    expect((await notificationsOf(guest)).at(-1)).toMatchObject({
      kind: 'deployment_stopped',
      message: 'The deployment of Robot Talk stopped because the budget of its API key is used up',
    });
  });

  it('is not charged while its server is down, and its hold stays valid', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Crash Crust'));
    await untilRunning(pod_id);
    let open = () => {};
    stub.gate = new Promise((resolve) => {
      open = resolve;
    });
    for (const { workloadId, attempt } of driver.running()) await driver.kill(workloadId, attempt);
    await vi.waitFor(async () => expect((await status(pod_id)).status).not.toBe('running'));
    await meterDeployments(server.services);
    const before = (await status(pod_id)).cost_so_far;
    for (let minute = 0; minute < 30; minute += 1) {
      clock.advance({ minutes: 10 });
      await meterDeployments({ ...server.services, config: { ...server.services.config, idleMinutes: 0 } });
    }
    expect(await status(pod_id)).toMatchObject({ cost_so_far: before });
    expect((await balance()).held).toBe(hourCost);
    open();
    await terminate(pod_id);
    expect((await balance()).held).toBe(0n);
  });

  it('is not charged beyond the time when it should sleep, even if it falls asleep later', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Late Sleeper'));
    await untilRunning(pod_id);
    clock.advance({ minutes: server.services.config.idleMinutes - 1 });
    await meterDeployments(server.services);
    const before = parseBgl((await status(pod_id)).cost_so_far);
    clock.advance({ hours: 3 });
    await meterDeployments(server.services);
    const slept = await status(pod_id);
    expect(slept.status).toBe('sleeping');
    const minuteCost = costMicro([{ price: defaultPrice('text_serving:CPU'), parts: 60_000n }]);
    expect(parseBgl(slept.cost_so_far) - before).toBeLessThanOrEqual(minuteCost);
    await terminate(pod_id);
  });

  it('sleeps when idle, costs nothing while asleep, and wakes for the next request', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Sleepy Loaf'));
    await untilRunning(pod_id);
    clock.advance({ minutes: server.services.config.idleMinutes + 1 });
    await meterDeployments(server.services);
    expect((await status(pod_id)).status).toBe('sleeping');
    expect((await balance()).held).toBe(0n);
    const sums = await server.request(vllmStats, { params: { userId: user.userId } }, { as: user });
    expect(sums).toMatchObject({ running: 0, sleeping: 1 });
    await vi.waitFor(() => expect(driver.running()).toHaveLength(0));
    const asleep = (await status(pod_id)).cost_so_far;
    clock.advance({ hours: 3 });
    expect((await status(pod_id)).cost_so_far).toBe(asleep);

    const answer = await ask('sleepy-loaf');
    expect(answer.choices[0]?.message.content).toBe('Good bread.');
    await vi.waitFor(async () => expect((await balance()).held).toBe(hourCost));
    await terminate(pod_id);
  });

  it('is not charged since the last count if its server has died', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Dead Dough'));
    await untilRunning(pod_id);
    stub.gate = new Promise(() => undefined);
    for (const { workloadId, attempt } of driver.running()) await driver.kill(workloadId, attempt);
    await vi.waitFor(async () => expect((await status(pod_id)).status).not.toBe('running'));
    clock.advance({ minutes: 1 });
    expect((await terminate(pod_id)).cost_so_far).toBe('0');
  });

  it('is not charged for the time of a server restart between two counts', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Second Rise'));
    await untilRunning(pod_id);
    let open = () => {};
    stub.gate = new Promise((resolve) => {
      open = resolve;
    });
    for (const { workloadId, attempt } of driver.running()) await driver.kill(workloadId, attempt);
    await vi.waitFor(async () => expect((await status(pod_id)).status).not.toBe('running'));
    clock.advance({ seconds: 50 });
    open();
    await untilRunning(pod_id);
    clock.advance({ seconds: 10 });
    const tenSeconds = costMicro([{ price: defaultPrice('text_serving:CPU'), parts: 10_000n }]);
    expect((await terminate(pod_id)).cost_so_far).toBe(formatBgl(tenSeconds));
  });

  it('is not loaded into new servers while it sleeps, but still wakes', async () => {
    const { pod_id } = await deploy(await makeFineTune(user, 'Resting Rye'));
    await untilRunning(pod_id);
    clock.advance({ minutes: server.services.config.idleMinutes + 1 });
    await meterDeployments(server.services);
    await vi.waitFor(() => expect(driver.running()).toHaveLength(0));
    const second = await deploy(await makeFineTune(user, 'Fresh Focaccia'));
    await untilRunning(second.pod_id);
    const [launch] = driver.running();
    expect(launch && 'adapters' in launch.spec && launch.spec.adapters).toHaveLength(1);
    expect((await ask('resting-rye')).choices[0]?.message.content).toBe('Good bread.');
    await terminate(pod_id);
    await terminate(second.pod_id);
  });
});
