import { randomUUID } from 'node:crypto';
import { createAsset } from '@bakehouse/contract/assets';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { listNotifications } from '@bakehouse/contract/notifications';
import { listRuns, resumeRun } from '@bakehouse/contract/runs';
import { cancelSweep, getSweep, quoteSweep, startSweep } from '@bakehouse/contract/sweeps';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Launch } from '../../../engine/drivers/driver.ts';
import { idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { goodData } from '../testing/test-run.ts';
import { trainingServer } from '../testing/training-server.ts';
import { step } from '../testing/workload-calls.ts';

const place = await trainingServer();
const { machine, server, request, user, datasetId, baseId, balance, workload, clock, driver } = place;
const { db } = server.services;

type Body = NonNullable<CallOf<typeof startSweep>['body']>;
type Axes = Body['axes'];

const rates: Axes[number] = { parameter: 'learning_rate', values: [0.001, 0.0002] };
const ranks: Axes[number] = { parameter: 'lora_r', values: [4, 8] };
const epochs: Axes[number] = { parameter: 'epochs', values: [1, 3] };

function asked(axes: Axes, payload: Partial<Body['fine_tune_payload']> = {}, as = user) {
  return {
    axes,
    fine_tune_payload: {
      ...{ asset_id: datasetId, base_model: baseId, model_name: 'loaf', file_name: 'rows.csv' },
      ...{ user_id: as.userId, input_column: 'question', output_column: 'answer', ...payload },
    },
  };
}

const quote = (axes: Axes, payload = {}) => request(quoteSweep, { body: asked(axes, payload) }, { as: user });
const start = (axes: Axes, payload = {}, idempotencyKey?: string, as: TestUser = user) =>
  request(startSweep, { body: { title: 'loaf', ...asked(axes, payload, as) } }, { as, idempotencyKey });
const read = (sweepId: string, as = user) => request(getSweep, { params: { sweepId } }, { as });
const cancel = (sweepId: string, as = user) => request(cancelSweep, { params: { sweepId } }, { as });

/** All that a start makes. */
const counts = async () => {
  const tables = ['sweeps', 'assets', 'runs', 'workloads', 'ledger_holds'];
  const made = tables.map(async (table) => {
    const { rows } = await sql<{
      count: number;
    }>`select count(*)::int as count from ${sql.table(table)}`.execute(db);
    return rows[0]?.count;
  });
  return Promise.all(made);
};

/** Until all runs of the sweep have ended. Time passes only while nothing runs. */
const ended = (sweepId: string) =>
  vi.waitFor(
    async () => {
      if (driver.running().length === 0) clock.advance({ seconds: 4 });
      await server.app.engine.pass();
      const { runs } = await read(sweepId);
      expect(runs.filter(({ ended_at }) => ended_at === null)).toEqual([]);
    },
    { interval: 20 },
  );

const parametersOf = (launch: Launch) =>
  (launch.spec as unknown as { parameters: { learning_rate: number; lora: { r: number } } }).parameters;

/** Holds `rows` out, and measures a loss that grows with the rate and the rank. */
const trains = (rows: number) => async (launch: Launch) => {
  const { report, put } = workload(launch);
  const { learning_rate: rate, lora } = parametersOf(launch);
  const loss = rate * 100 + lora.r / 1000;
  await report({ type: 'phase', phase: 'training' }, step(0));
  clock.advance({ seconds: 20 });
  await report(
    { type: 'metrics', step: 0, values: { held_out_rows: rows, eval_loss: 0 } },
    { type: 'metrics', step: 1, values: { loss: 2, eval_loss: loss } },
    { type: 'metrics', step: 2, values: { loss: 1, eval_loss: loss + 1 } },
  );
  const files = [await put('adapter_config.json', '{"r":8}'), await put('README.md', '# Loaf')];
  await report(step(2), { type: 'result', files, summary: { eval_loss: loss } });
  return 0;
};

beforeEach(() => {
  machine.data = goodData;
  machine.meanwhile = async () => {};
  machine.script = idleUntilStopped;
});

describe('a quote', () => {
  test('has the runs, what each costs, and their sum; it changes nothing', async () => {
    const before = await counts();
    const { runs, cost_estimate, critical_errors } = await quote([rates, epochs]);
    expect(critical_errors).toEqual([]);
    expect(runs.map(({ parameters }) => parameters)).toEqual([
      { learning_rate: 0.001, epochs: 1 },
      { learning_rate: 0.001, epochs: 3 },
      { learning_rate: 0.0002, epochs: 1 },
      { learning_rate: 0.0002, epochs: 3 },
    ]);
    const micro = runs.map(({ cost }) => parseBgl(cost));
    expect(micro[1]).toBeGreaterThan(micro[0] ?? 0n);
    expect(cost_estimate.quote.total).toBe(formatBgl(micro.reduce((sum, one) => sum + one)));
    expect(cost_estimate.quote.items.map(({ label }) => label)).toContain('Learning rate 0.001, Epochs 3');
    const hours = runs.reduce((sum, { duration_hours }) => sum + duration_hours, 0);
    expect(cost_estimate.duration_hours).toBeCloseTo(hours, 9);
    expect(await counts()).toEqual(before);
  });

  test('says which runs have a fault, and which all of them have', async () => {
    machine.meanwhile = async () => {
      const large = (machine.read?.spec.parameters.lora?.r ?? 0) > 4;
      machine.data = { ...goodData, memory_bytes: large ? 1e15 : 1e9 };
    };
    const { critical_errors } = await quote([rates, ranks]);
    expect(critical_errors).toEqual([
      expect.stringMatching(/^Learning rate 0.001, LoRA rank 8 \(and 1 more\): The run needs about 931/),
    ]);
    machine.meanwhile = async () => {};
    machine.data = { ...goodData, critical_errors: ['rows.csv is empty'] };
    expect((await quote([rates, ranks])).critical_errors).toEqual(['rows.csv is empty']);
  });

  test('refuses a parameter that the objective of the rows does not have', async () => {
    const beta: Axes[number] = { parameter: 'beta', values: [0.1, 0.3] };
    expect((await quote([rates, beta])).critical_errors).toEqual([
      'SFT has no Beta: choose another parameter',
    ]);
    await expect(start([rates, beta])).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'axes.1.parameter' } },
    });
    const columns = { input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected' };
    machine.data = {
      ...goodData,
      format: { format: 'preference', ...columns, label_column: null, system_column: null },
    };
    expect((await quote([rates, beta], columns)).critical_errors).toEqual([]);
  });
});

describe('a start', () => {
  test('holds for each run what it was quoted at, together the sum, and happens once for its key', async () => {
    const { cost_estimate, runs } = await quote([rates, epochs]);
    const { available } = await balance();
    const key = randomUUID();
    const made = await start([rates, epochs], { cost_max: cost_estimate.quote.total }, key);
    expect(made.run_ids).toHaveLength(4);
    expect(await start([rates, epochs], { cost_max: cost_estimate.quote.total }, key)).toEqual(made);
    await expect(start([rates, ranks], {}, key)).rejects.toMatchObject({ code: 'idempotency_conflict' });

    const sweep = await read(made.sweep_id);
    expect(sweep).toMatchObject({
      ...{ title: 'loaf', parameters: ['learning_rate', 'epochs'], held: cost_estimate.quote.total },
      ...{ measure: 'eval_loss', best_run_id: null, held_out_rows: null },
    });
    // In the order of their values.
    expect(sweep.runs.map(({ title }) => title)).toEqual([
      'loaf: Learning rate 0.0002, Epochs 1',
      'loaf: Learning rate 0.0002, Epochs 3',
      'loaf: Learning rate 0.001, Epochs 1',
      'loaf: Learning rate 0.001, Epochs 3',
    ]);
    expect(sweep.runs.map(({ held }) => held).sort()).toEqual(runs.map(({ cost }) => cost).sort());
    expect(sweep.runs[1]?.parameters).toMatchObject({ learning_rate: 0.0002, epochs: 3, lora_r: 8 });
    expect(sweep.runs[1]?.sweep).toEqual({ sweep_id: made.sweep_id, title: 'loaf' });
    const after = await balance();
    expect(parseBgl(available) - parseBgl(after.available)).toBe(parseBgl(cost_estimate.quote.total));
    const listed = await request(listRuns, { query: {} }, { as: user });
    expect(listed.runs.map(({ run_id }) => run_id).sort()).toEqual(made.run_ids.sort());

    await cancel(made.sweep_id);
    await ended(made.sweep_id);
    expect(await balance()).toMatchObject({ available });
  });

  test.each([
    [
      'a combination that does not fit',
      { lora_r: 1e15 },
      {},
      { status: 400, body: { error: { param: 'axes' } } },
    ],
    [
      'a file that is not there',
      {},
      { file_name: 'no.csv' },
      { body: { error: { param: 'fine_tune_payload.file_name' } } },
    ],
    [
      'a price that has risen',
      {},
      { cost_max: '0.000001' },
      { status: 409, body: { error: { param: 'fine_tune_payload.cost_max' } } },
    ],
  ])('is refused as a whole for %s', async (_what, memory: { lora_r?: number }, payload, refusal) => {
    const before = await counts();
    machine.meanwhile = async () => {
      const isLast = machine.read?.spec.parameters.lora?.r === 8;
      machine.data = { ...goodData, memory_bytes: (isLast && memory.lora_r) || 1e9 };
    };
    await expect(start([rates, ranks], payload)).rejects.toMatchObject(refusal);
    expect(await counts()).toEqual(before);
  });

  test('names the parameter whose value is refused', async () => {
    const columns = { input_column: 'prompt', output_column: 'completion', label_column: 'label' };
    machine.data = {
      ...goodData,
      format: { format: 'feedback', ...columns, rejected_column: null, system_column: null },
    };
    const batches: Axes[number] = { parameter: 'batch_size', values: [1, 4] };
    await expect(start([rates, batches], columns)).rejects.toMatchObject({
      body: {
        error: {
          message:
            'Learning rate 0.001, Batch size 1 (and 1 more): KTO compares the answers of a batch: its batch size must be at least 2',
          param: 'axes.1.values',
        },
      },
    });
  });

  test('without enough credit for all of them leaves nothing, and says the sum', async () => {
    const { cost_estimate } = await quote([rates, ranks]);
    const { available } = await balance();
    const times = Number(parseBgl(available)) / Number(parseBgl(cost_estimate.quote.total));
    // One alone could be paid.
    machine.data = { ...goodData, train_padded_tokens: Math.round(goodData.train_padded_tokens * times * 2) };
    const dear = await quote([rates, ranks]);
    expect(parseBgl(dear.runs[0]?.cost ?? '')).toBeLessThan(parseBgl(available));
    const before = await counts();
    await expect(start([rates, ranks])).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_funds',
      body: { error: { required_amount: dear.cost_estimate.quote.total, available_amount: available } },
    });
    expect(await counts()).toEqual(before);
  });

  test('reads all runs from the same revisions', async () => {
    let reads = 0;
    machine.meanwhile = async () => {
      reads += 1;
      if (reads > 1) return;
      const form = new FormData();
      form.set('data_file', new Blob(['question,answer\nc,d\n']), 'rows.csv');
      const path = `${server.url}/api/v1/asset/${datasetId}/upload`;
      const answer = await fetch(path, { method: 'POST', headers: { 'x-api-key': user.apiKey }, body: form });
      expect(answer.status).toBe(200);
    };
    const before = await counts();
    await expect(start([ranks])).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('changed while it was being read'),
    });
    expect(await counts()).toEqual(before);
  });
});

describe('its runs', () => {
  test('are compared by what they have held out; one that failed is told, and can go on', async () => {
    const { sweep_id } = await start([rates, ranks]);
    machine.script = async (launch) => {
      const { learning_rate: rate, lora } = parametersOf(launch);
      if (rate !== 0.0002 || lora.r !== 4) return trains(8)(launch);
      await workload(launch).report(step(0), { type: 'failed', message: 'The oven is cold' });
      return 1;
    };
    await ended(sweep_id);
    const sweep = await read(sweep_id);
    const [failed, best, ...others] = sweep.runs;
    expect(failed).toMatchObject({ state: 'failed', charged: '0', held_out: null });
    expect(failed?.reason).toContain('The oven is cold');
    expect(best?.held_out).toEqual({ best: 0.028, best_step: 1, last: 1.028, reward_accuracy: null });
    expect(others.map(({ state }) => state)).toEqual(['completed', 'completed']);
    expect(sweep).toMatchObject({ best_run_id: best?.run_id, held_out_rows: 8, held: '0' });
    const charged = sweep.runs.reduce((sum, run) => sum + parseBgl(run.charged ?? ''), 0n);
    expect(charged).toBeGreaterThan(0n);
    expect(sweep.cost_so_far).toBe(formatBgl(charged));

    machine.script = trains(8);
    await request(resumeRun, { params: { runId: failed?.run_id ?? '' } }, { as: user });
    await ended(sweep_id);
    const again = await read(sweep_id);
    expect(again.best_run_id).toBe(failed?.run_id);
    expect(again.runs.map(({ state }) => state)).toEqual(Array.from({ length: 4 }, () => 'completed'));
    const heard = await request(listNotifications, { params: { userId: user.userId } }, { as: user });
    expect(heard.filter(({ link }) => link === `/sweeps/${sweep_id}`).map(({ message }) => message)).toEqual([
      'The sweep loaf has ended: 4 of 4 runs completed',
      'The sweep loaf has ended: 3 of 4 runs completed',
    ]);
    expect(heard.filter(({ kind }) => kind.startsWith('run_'))).toEqual([]);
  });

  test('of few held-out rows none is the best', async () => {
    machine.script = trains(4);
    const { sweep_id } = await start([ranks]);
    await ended(sweep_id);
    expect(await read(sweep_id)).toMatchObject({ held_out_rows: 4, best_run_id: null });
  });

  test('are cancelled together; what has ended stays, and what one is charged is its own', async () => {
    const { available } = await balance();
    const begun: string[] = [];
    machine.script = async (launch, process) => {
      begun.push(launch.workloadId);
      if (begun.length === 1) return trains(8)(launch);
      await workload(launch).report(step(1));
      return idleUntilStopped(launch, process);
    };
    const { sweep_id, run_ids } = await start([rates, ranks]);
    await vi.waitFor(
      async () => {
        if (driver.running().length === 0) clock.advance({ seconds: 4 });
        await server.app.engine.pass();
        expect(begun).toHaveLength(2);
        expect((await read(sweep_id)).runs.filter(({ state }) => state === 'completed')).toHaveLength(1);
      },
      { interval: 20 },
    );
    const cancelled = await cancel(sweep_id);
    expect(cancelled.runs.filter(({ state }) => state === 'completed')).toHaveLength(1);
    await ended(sweep_id);
    const { runs, best_run_id } = await read(sweep_id);
    expect(runs.filter(({ state }) => state === 'cancelled')).toHaveLength(3);
    expect(best_run_id).toBe(begun[0]);
    const charged = runs.reduce((sum, run) => sum + parseBgl(run.charged ?? ''), 0n);
    expect(parseBgl(available) - parseBgl((await balance()).available)).toBe(charged);
    // Once more changes nothing.
    expect(await cancel(sweep_id)).toMatchObject({ best_run_id, held: '0' });

    const logged = await db
      .selectFrom('audit_log')
      .select(['action', 'detail'])
      .where('action', 'in', ['run.started', 'run.cancelled'])
      .execute();
    const ofRuns = (action: string) =>
      logged
        .filter((row) => row.action === action)
        .map(({ detail }) => (detail as { run_id: string }).run_id)
        .filter((id) => run_ids.includes(id));
    expect(ofRuns('run.started')).toHaveLength(4);
    expect(ofRuns('run.cancelled')).toHaveLength(3);
  });

  test('are nobody else’s: another user’s sweep is not found, and is not started from another’s files', async () => {
    const { sweep_id } = await start([ranks]);
    const eve = await server.signUp('Eve');
    const notFound = { status: 404, message: expect.stringContaining('Sweep not found') };
    await expect(read(sweep_id, eve)).rejects.toMatchObject(notFound);
    await expect(cancel(sweep_id, eve)).rejects.toMatchObject(notFound);
    await expect(start([ranks], {}, undefined, eve)).rejects.toMatchObject({ status: 404 });
    expect((await read(sweep_id)).runs.filter(({ state }) => state === 'stopping')).toEqual([]);
    await cancel(sweep_id);
    await ended(sweep_id);
  });

  test('a fine-tune that is started alone is part of none', async () => {
    const { fine_tune_payload } = asked([ranks]);
    const body = { dataset_type: 'MODEL' as const, title: 'alone', user_id: user.userId, fine_tune_payload };
    const modelId = await request(createAsset, { body }, { as: user });
    expect(await place.runOf(modelId)).toMatchObject({ sweep: null });
  });
});
