import { randomUUID } from 'node:crypto';
import { createApiKey } from '@bakehouse/contract/api-keys';
import { parseBgl } from '@bakehouse/contract/money';
import { listNotifications } from '@bakehouse/contract/notifications';
import * as runContract from '@bakehouse/contract/runs';
import { describe, expect, test, vi } from 'vitest';
import type { Launch } from '../../../engine/drivers/driver.ts';
import { idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { revenueAccount, userAccount } from '../../billing/ledger/accounts.ts';
import { expireHolds } from '../../billing/ledger/holds/holds.ts';
import { transfer } from '../../billing/ledger/transfer.ts';
import { trainingServer } from '../testing/training-server.ts';
import { micro, PRICE_MICRO_PER_S, step } from '../testing/workload-calls.ts';

const {
  machine,
  clock,
  server,
  request,
  user,
  filesOf,
  start,
  runOf,
  balance,
  ended,
  begin,
  workload,
  trainFor,
} = await trainingServer();

/** Advances the clock until all holds have expired. */
async function expire() {
  clock.advance({ seconds: 31 * 24 * 3600 });
  await server.services.db.transaction().execute((tx) => expireHolds(tx, { now: clock.now(), limit: 100 }));
}

/** Uses up credits. */
async function spend(as: TestUser, amountMicro: bigint) {
  await server.services.db.transaction().execute((tx) =>
    transfer(tx, {
      debitAccountId: userAccount(as.userId),
      creditAccountId: revenueAccount('deployment'),
      amountMicro,
      kind: 'charge',
      description: 'Deployment',
      idempotencyKey: null,
    }),
  );
}

/** A run that reports every five seconds until it is stopped, and then saves its work. */
function untilStopped(afterReport: () => Promise<unknown> = async () => {}) {
  return async (one: Launch) => {
    let command = '';
    for (let round = 0; command !== 'stop' && round < 100; round += 1) {
      clock.advance({ seconds: 5 });
      ({ command } = await workload(one).report(step(1, 4)));
      await afterReport();
    }
    await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
    return 0;
  };
}

/** Like `untilStopped`, but the run is always in its last step. */
function untilLate() {
  return async (one: Launch) => {
    let command = '';
    while (command !== 'stop') {
      clock.advance({ seconds: 5 });
      ({ command } = await workload(one).report(step(1)));
    }
    await workload(one).report({ type: 'stopped', step: 1 });
    return 0;
  };
}

describe('a fine-tune', () => {
  test('is stopped at its spending limit with its work saved, and resumes under a higher one', async () => {
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    const { modelId } = await begin(
      async (one) => {
        await seen;
        return untilStopped()(one);
      },
      { payload: { ceiling: '0.03' } },
    );
    const begun = await runOf(modelId);
    expect(begun).toMatchObject({ held: begun.quote.total, ceiling: '0.03' });
    see();
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({
      state: 'cancelled',
      stop_reason: 'ceiling',
      reason: 'The run reached its spending limit. The work was saved.',
      charged: run.ceiling,
    });
    const [told] = await request(
      listNotifications,
      { params: { userId: user.userId }, query: {} },
      { as: user },
    );
    expect(told).toMatchObject({
      kind: 'run_cancelled',
      message: `The training of ${run.title} stopped at its spending limit. You can resume it with a higher one`,
    });

    const call = { params: { runId: run.run_id } };
    await expect(
      request(runContract.resumeRun, { ...call, body: { ceiling: run.ceiling } }, { as: user }),
    ).rejects.toMatchObject({
      status: 400,
      body: {
        error: {
          param: 'ceiling',
          message: `The run has cost ${run.ceiling} BGL so far. Set a limit above that`,
        },
      },
    });
    machine.script = async (one) => {
      await workload(one).report(step(1));
      return untilStopped()(one);
    };
    const ceiling = '0.04';
    const resumed = await request(runContract.resumeRun, { ...call, body: { ceiling } }, { as: user });
    expect(resumed).toMatchObject({ state: 'queued', ceiling, stop_reason: null });
    expect(micro(resumed.held)).toBeLessThanOrEqual(micro(ceiling) - micro(run.ceiling));
    await ended(modelId);
    expect(await runOf(modelId)).toMatchObject({ stop_reason: 'ceiling', charged: ceiling, held: '0' });
    // The next default ceiling adds 1.5 times the remaining cost.
    const next = await runOf(modelId);
    expect(micro(next.resume_ceiling)).toBe(micro(ceiling) + Math.ceil(1.5 * micro(next.resume_hold)));
  });

  test('without a chosen ceiling is stopped after four times its estimate, costs the quote and can be resumed', async () => {
    const before = await balance();
    const { modelId } = await begin(untilStopped());
    const begun = await runOf(modelId);
    expect(micro(begun.ceiling)).toBe(Math.ceil(1.5 * micro(begun.quote.total)));
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({
      ...{ state: 'cancelled', stop_reason: 'time', charged: run.quote.total, held: '0' },
      reason: 'The run took 4 times as long as estimated. The work was saved.',
    });
    const estimatedSeconds = micro(run.quote.total) / PRICE_MICRO_PER_S;
    expect(run.elapsed_seconds).toBeGreaterThan(4 * estimatedSeconds);
    expect(run.elapsed_seconds).toBeLessThan(4 * estimatedSeconds + 10);
    const after = await balance();
    expect(micro(after.available)).toBe(micro(before.available) - micro(run.quote.total));
    expect(run.resume_hold).not.toBeNull();
  });

  test('is stopped after four times its estimate even if an earlier round had a higher ceiling', async () => {
    const raise = server.services.db.updateTable('runs').set({ ceiling_micro: parseBgl('1') });
    const { modelId } = await begin(async (one) => {
      await raise.where('id', '=', one.workloadId).execute();
      return untilStopped()(one);
    });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({ stop_reason: 'time', charged: run.quote.total });
  });

  test('is neither charged nor stopped while its finished result cannot be uploaded', async () => {
    const commands: string[] = [];
    const { modelId } = await begin(
      async (one) => {
        const { call, report, put } = workload(one);
        const { accepted_seq } = await report(step(1));
        clock.advance({ seconds: 5 });
        // These five seconds are reported together with the end of the counted phase.
        const saving = { type: 'phase', phase: 'saving', counted: false, seq: accepted_seq + 1 };
        const body = JSON.stringify({ reports: [{ ...saving, at: clock.now().toISOString() }] });
        await call('POST', 'reports', body, { 'content-type': 'application/json' });
        for (let round = 0; round < 100; round += 1) {
          clock.advance({ seconds: 5 });
          commands.push((await report()).command);
        }
        await report({ type: 'phase', phase: 'uploading', counted: false });
        const files = [await put('adapter_config.json', '{"r":8}')];
        clock.advance({ seconds: 25 });
        await report({ type: 'result', files, summary: { eval_loss: 0.5 } });
        return 0;
      },
      // The training itself already costs more than this ceiling.
      { payload: { ceiling: '0.000002' } },
    );
    await ended(modelId);
    expect(new Set(commands)).toEqual(new Set(['continue']));
    expect(await runOf(modelId)).toMatchObject({
      state: 'completed',
      elapsed_seconds: 5,
      charged: '0.000002',
    });
  });

  test('holds no more than its ceiling if that is below the quote', async () => {
    const modelId = await start({ payload: { ceiling: '0.000002' } });
    expect(await runOf(modelId)).toMatchObject({ held: '0.000002', ceiling: '0.000002' });
    const { run_id: runId } = await runOf(modelId);
    await request(runContract.cancelRun, { params: { runId } }, { as: user });
    await expect(start({ payload: { ceiling: '0' } })).rejects.toMatchObject({ status: 400 });
  });

  test('extends its hold; when the credits run out, it saves its work and is stopped', async () => {
    const poor = await server.signUp('Poor');
    // The remaining credit pays for about 100 seconds.
    await spend(poor, parseBgl((await balance(poor)).available) - 70_000n);
    const own = await filesOf(poor);
    const { modelId } = await begin(untilStopped(), { as: poor, payload: { ...own, ceiling: '1' } });
    await ended(modelId, poor);
    const run = await runOf(modelId, poor);
    expect(run).toMatchObject({
      state: 'cancelled',
      stop_reason: 'credits',
      reason: 'Your credits ran out. The work was saved.',
    });
    expect(micro(run.charged)).toBeGreaterThan(micro(run.quote.total));
    expect(micro(run.charged)).toBeLessThanOrEqual(70_000);
    const left = await balance(poor);
    expect(micro(left.available)).toBe(70_000 - micro(run.charged));
  });

  test('continues with credits that an idle usage window of its owner releases', async () => {
    const chatting = await server.signUp('Chatting');
    // The remaining credits pay for about 100 seconds. A chat holds as much again.
    await spend(chatting, parseBgl((await balance(chatting)).available) - 140_000n);
    const own = await filesOf(chatting);
    const { usage } = server.app;
    const answer = await usage.reserve({
      ...{ userId: chatting.userId, keyId: null, use: 'llm_inference', source: 'model:crumb' },
      ...{ description: 'Tokens of crumb', references: { asset_name: 'crumb' } },
      ...{ unitPrices: [1n], priceMicro: 70_000n },
    });
    answer.settle({ id: randomUUID(), at: clock.now(), amountMicro: 1n, quantities: {} });
    const closeIdle = vi.spyOn(usage, 'closeIdle');
    const { modelId } = await begin(
      untilStopped(() => Promise.all(closeIdle.mock.results.map(({ value }) => value as Promise<number>))),
      { as: chatting, payload: { ...own, ceiling: '1' } },
    );
    await ended(modelId, chatting);
    closeIdle.mockRestore();
    expect(micro((await runOf(modelId, chatting)).charged)).toBeGreaterThan(100_000);
  });

  test('is stopped once the budget of its API key is used up', async () => {
    const { secret } = await server.request(
      createApiKey,
      {
        params: { userId: user.userId },
        body: { name: 'program', budget: { amount: '0.07', period: 'total' } },
      },
      { as: user },
    );
    const { modelId } = await begin(untilStopped(), {
      as: { ...user, apiKey: secret },
      payload: { ceiling: '1' },
    });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({
      state: 'cancelled',
      stop_reason: 'budget',
      reason: 'The budget of its API key is used up. The work was saved.',
    });
    // The run also used the last seconds of the budget.
    expect(micro(run.charged)).toBeGreaterThan(70_000 - Math.ceil(10 * PRICE_MICRO_PER_S));
    expect(micro(run.charged)).toBeLessThanOrEqual(70_000);
  });

  test('gets a new hold if its hold expired while the run waited', async () => {
    const modelId = await start();
    const { held } = await runOf(modelId);
    await expire();
    expect((await balance()).held).toBe('0');
    const seen: string[] = [];
    machine.script = async (launch, process) => {
      await workload(launch).report(step(1));
      seen.push((await balance()).held);
      return trainFor(20)(launch, process);
    };
    await ended(modelId);
    const run = await runOf(modelId);
    expect(seen).toEqual([held]);
    expect(run).toMatchObject({ state: 'completed', held: '0' });
    expect(micro(run.charged)).toBe(Math.ceil(20 * PRICE_MICRO_PER_S));
    expect((await balance()).held).toBe('0');
  });

  test('is stopped without a hold or credits', async () => {
    const broke = await server.signUp('Broke');
    const own = await filesOf(broke);
    machine.script = async (launch, process) => {
      await workload(launch).report(step(1));
      await idleUntilStopped(launch, process);
      return 0;
    };
    const modelId = await start({ as: broke, payload: own });
    await expire();
    await spend(broke, parseBgl((await balance(broke)).available));
    await ended(modelId, broke);
    expect(await runOf(modelId, broke)).toMatchObject({
      state: 'cancelled',
      charged: '0',
      // The run ended before it had saved any work.
      reason: 'Your credits ran out.',
    });
  });

  test('is not charged if its hold expired before the run ended', async () => {
    const { modelId, launch } = await begin(async (one, process) => {
      await idleUntilStopped(one, process);
      await workload(one).report({ type: 'stopped', step: 1 });
      return 0;
    });
    clock.advance({ seconds: 12 });
    await workload(launch).report();
    await expire();
    await request(runContract.cancelRun, { params: { runId: launch.workloadId } }, { as: user });
    await ended(modelId);
    expect(await runOf(modelId)).toMatchObject({
      state: 'cancelled',
      elapsed_seconds: 12,
      charged: '0',
      reason: 'Cancelled.',
    });
  });

  test('may finish its last step beyond its ceiling, but pays no more than the ceiling', async () => {
    const commands = new Set<string>();
    const { modelId } = await begin(async (one) => {
      const { report, put } = workload(one);
      // The last step and the evaluation take twice as long as the ceiling pays for.
      for (const now of [step(1), step(1), step(2), { type: 'phase', phase: 'evaluating' } as const]) {
        clock.advance({ seconds: 25 });
        commands.add((await report(now)).command);
      }
      const files = [await put('adapter_config.json', '{"r":8}')];
      await report({ type: 'result', files, summary: { eval_loss: 0.5 } });
      return 0;
    });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(commands).toEqual(new Set(['continue']));
    expect(run).toMatchObject({ state: 'completed', stop_reason: null, elapsed_seconds: 100, held: '0' });
    expect(run.charged).toBe(run.ceiling);
    expect((await balance()).held).toBe('0');
  });

  test('is stopped if its last step takes too long; a resumed round can finish it', async () => {
    const { modelId } = await begin(untilLate(), { payload: { ceiling: '0.03' } });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({ state: 'cancelled', stop_reason: 'ceiling', charged: run.ceiling });
    // The ceiling pays for its seconds; five more minutes are free. The next report then stops the run.
    const paidSeconds = micro(run.ceiling) / PRICE_MICRO_PER_S;
    expect(run.elapsed_seconds).toBeGreaterThan(paidSeconds + 300);
    expect(run.elapsed_seconds).toBeLessThan(paidSeconds + 310);

    expect(micro(run.resume_hold)).toBeGreaterThanOrEqual(Math.ceil(60 * PRICE_MICRO_PER_S));
    machine.script = trainFor(90);
    await request(runContract.resumeRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    expect(await runOf(modelId)).toMatchObject({ state: 'completed', held: '0' });
  });

  test('is stopped at a ceiling below its quote if a step remains', async () => {
    const { modelId } = await begin(untilLate(), { payload: { ceiling: '0.007' } });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({ stop_reason: 'ceiling', charged: '0.007' });
    expect(run.elapsed_seconds).toBeLessThan(7_000 / PRICE_MICRO_PER_S + 10);
  });

  // This test is the last one, because its slow run raises later estimates.
  test('may finish at no extra cost if it takes longer than its ceiling pays for', async () => {
    const commands = new Set<string>();
    const { modelId } = await begin(async (one) => {
      const { report, put } = workload(one);
      const call = { params: { runId: one.workloadId } };
      const { ceiling } = await request(runContract.getRun, call, { as: user });
      const paidSeconds = micro(ceiling) / PRICE_MICRO_PER_S;
      for (let seconds = 0; seconds < 2.5 * paidSeconds; seconds += 5) {
        clock.advance({ seconds: 5 });
        commands.add((await report(step(1, 9))).command);
      }
      const files = [await put('adapter_config.json', '{"r":8}')];
      await report(step(9, 9), { type: 'result', files, summary: { eval_loss: 0.5 } });
      return 0;
    });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(commands).toEqual(new Set(['continue']));
    expect(run).toMatchObject({ state: 'completed', stop_reason: null, held: '0' });
    expect(run.charged).toBe(run.ceiling);
  });
});
