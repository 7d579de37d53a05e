import * as training from '@bakehouse/contract/fine-tuning';
import * as runContract from '@bakehouse/contract/runs';
import { describe, expect, test, vi } from 'vitest';
import { emptyGguf, emptySafetensors, goodData } from '../testing/test-run.ts';
import { trainingServer } from '../testing/training-server.ts';

const { machine, server, request, user, datasetId, baseId, create, start, runOf, ended, trainFor } =
  await trainingServer();

/** Sets the machine's load and lets the engine report it. */
async function beBusy(threads: number): Promise<void> {
  machine.busyThreads = threads;
  await server.app.engine.pass();
}

describe('validation', () => {
  const validate = (more: object = {}) =>
    request(
      training.validateFineTune,
      {
        body: {
          dataset_id: datasetId,
          model_id: baseId,
          file_name: 'rows.csv',
          input_column: 'question',
          output_column: 'answer',
          ...more,
        },
      },
      { as: user },
    );

  test('needs no columns if the format has none, or if neither format nor columns are set', async () => {
    const nothing = { input_column: null, output_column: null };
    expect((await validate(nothing)).critical_errors).toEqual([]);
    expect((await validate({ ...nothing, data_format: 'messages' })).critical_errors).toEqual([]);
    expect((await validate({ ...nothing, data_format: 'prompt_completion' })).critical_errors).toEqual([
      'Input and output columns are required for non-text files',
    ]);
  });

  test('refuses one column as both input and output', async () => {
    const { critical_errors } = await validate({ output_column: 'question' });
    expect(critical_errors).toEqual(['Input and output must be different columns']);
  });

  test('returns the device, the cost, the data and the GPUs that fit', async () => {
    const answer = await validate();
    expect(answer).toMatchObject({
      critical_errors: [],
      placement: {
        device: 'cpu',
        description:
          'This machine has no NVIDIA Tesla A100 (40GB): the run goes to its CPU and is charged at the CPU price.',
      },
      data: { rows_kept: 9, dropped: [{ line: 4, reason: 'The answer is empty' }] },
      cost_estimate: { quote: { items: [{ label: "Training on this machine's CPU", unit: 'hour' }] } },
    });
    expect(answer.cost_estimate.usd_cost).toMatch(/^\d+\.\d\d$/);
    const { recommendations } = answer;
    expect(recommendations.recommended_gpus[0]?.description).toMatch(
      /^NVIDIA .*: needs 1\.9 GB, about \d+ s$/,
    );
    expect(Number(recommendations.recommended_gpus[0]?.cost)).toBeGreaterThan(0);
    const modelId = await start();
    expect((await runOf(modelId)).quote).toEqual(answer.cost_estimate.quote);
    await request(runContract.cancelRun, { params: { runId: (await runOf(modelId)).run_id } }, { as: user });
    await ended(modelId);
  });

  test('refuses early stopping with too few held-out examples; counts the additional evaluations', async () => {
    const { critical_errors } = await validate({ early_stopping_patience: 2 });
    expect(critical_errors).toEqual([
      'Early stopping needs at least 5 held-out examples, and there are 2: hold out more rows, or set early stopping patience to 0',
    ]);
    machine.data = { ...goodData, eval_examples: 5, eval_padded_tokens: 10_000_000, steps_total: 12 };
    const patient = await validate({ early_stopping_patience: 2, seed: 7 });
    expect(patient.critical_errors).toEqual([]);
    expect(patient.warnings.join()).toContain('never ends this run, in which there is 1 evaluation:');
    const often = await validate({ early_stopping_patience: 2, eval_steps: 5, seed: 7 });
    machine.data = goodData;
    expect(often.warnings.join()).not.toContain('never ends this run');
    const hours = often.cost_estimate.duration_hours / patient.cost_estimate.duration_hours;
    expect(hours).toBeGreaterThan(2.5);
  });

  test('is aborted if its client disconnects', async () => {
    const release = Promise.withResolvers<void>();
    machine.meanwhile = () => release.promise;
    machine.readSignal = undefined;
    const client = new AbortController();
    const answer = fetch(`${server.url}/api/v1/fine-tune/validate`, {
      method: 'POST',
      headers: { 'x-api-key': user.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        dataset_id: datasetId,
        model_id: baseId,
        file_name: 'rows.csv',
        input_column: 'question',
        output_column: 'answer',
      }),
      signal: client.signal,
    }).catch(() => 'disconnected');
    await vi.waitFor(() => expect(machine.readSignal?.aborted).toBe(false));
    client.abort();
    await vi.waitFor(() => expect(machine.readSignal?.aborted).toBe(true));
    expect(await answer).toBe('disconnected');
    machine.meanwhile = async () => {};
    release.resolve();
  });

  test('estimates for the current load and reports it; a start with that load holds the shown estimate', async () => {
    const idle = (await validate()).cost_estimate;
    expect(idle.slowdown).toBe(1);
    expect(idle.load).toContain('Estimated for the current load: this machine is mostly idle.');
    await beBusy(10);
    const busy = (await validate()).cost_estimate;
    expect(busy.load).toContain('about 6 times as long as on an idle one');
    expect(busy.duration_hours / idle.duration_hours).toBeCloseTo(6);
    await beBusy(14);
    const { slowdown, quote } = busy;
    const quoted = { cost_max: quote.total };
    await expect(start({ payload: quoted })).rejects.toMatchObject({ status: 409, code: 'conflict' });
    const modelId = await start({ payload: { ...quoted, slowdown } });
    const run = await runOf(modelId);
    expect(run.parameters).not.toHaveProperty('slowdown');
    expect(run.quote).toEqual(busy.quote);
    expect(run.held).toBe(busy.quote.total);
    await request(runContract.cancelRun, { params: { runId: run.run_id } }, { as: user });
    await ended(modelId);
    await beBusy(0);
  });

  test('converts the speed of a finished run to the speed of an idle machine', async () => {
    await beBusy(12);
    machine.script = trainFor(600);
    const modelId = await start({ payload: { ceiling: '1' } });
    await ended(modelId);
    await beBusy(0);
    const { db } = server.services;
    const { run_id } = await runOf(modelId);
    const { slowdown } = await db
      .selectFrom('runs')
      .select('slowdown')
      .where('id', '=', run_id)
      .executeTakeFirstOrThrow();
    // Ten other threads and the run's own two share two cores.
    expect(slowdown).toBeCloseTo(6, 3);
    const before = (await validate()).cost_estimate.duration_hours;
    await db
      .updateTable('runs')
      .set(({ eb }) => ({ slowdown: eb('slowdown', '*', 3) }))
      .execute();
    expect((await validate()).cost_estimate.duration_hours).toBeCloseTo(before / 3);
  });

  test('warns about an unusual learning rate and refuses an invalid one', async () => {
    const { warnings } = await validate({ learning_rate: 0.5 });
    expect(warnings).toContainEqual(expect.stringContaining('far above'));
    await expect(validate({ learning_rate: 0 })).rejects.toThrow('Learning rate must be greater than 0');
    await expect(validate({ epochs: 0 })).rejects.toThrow('Epochs must be at least 1');
    await expect(validate({ epochs: 1001 })).rejects.toThrow('Epochs must be at most 1000');
    await expect(validate({ batch_size: 1e9 })).rejects.toThrow('Batch size must be at most 1024');
    await expect(validate({ accelerator_count: 3 })).rejects.toThrow('Please select a valid number of GPUs');
    await expect(validate({ gpu_type: 'RTX' })).rejects.toThrow('Please select a GPU configuration');
  });

  test('warns if the resulting model cannot be deployed', async () => {
    expect((await validate()).warnings).toEqual([expect.stringContaining('tiny base has no GGUF file')]);
    const model_id = await create(user, 'MODEL', 'other base', {
      'model.safetensors': emptySafetensors(),
      'model.gguf': emptyGguf(),
    });
    expect((await validate({ model_id })).warnings).toEqual([]);
    machine.data = { ...goodData, gguf_obstacle: 'llama.cpp does not know the model family x.' };
    const { warnings } = await validate({ model_id });
    machine.data = goodData;
    expect(warnings).toEqual([expect.stringContaining('not know the model family x')]);
  });

  test('refuses an incomplete or quantized base', async () => {
    const faults = async (files: Record<string, Buffer | string>) =>
      (await validate({ model_id: await create(user, 'MODEL', 'large base', files) })).critical_errors;
    expect(await faults({ 'model-00002-of-00002.safetensors': emptySafetensors() })).toEqual([
      'large base is incomplete: model-00001-of-00002.safetensors is missing',
    ]);
    const config = (quantization_config: object) => ({
      'model.safetensors': emptySafetensors(),
      'config.json': JSON.stringify({ quantization_config }),
    });
    expect(await faults(config({ quant_method: 'gptq' }))).toEqual([
      'The base is quantized (gptq). Upload the unquantized weights',
    ]);
    expect(await faults(config({}))).toEqual([expect.stringContaining('The base is quantized')]);
  });

  test('needs no columns for text', async () => {
    const id = await create(user, 'RAW', 'a text', { 'a.TXT': 'Once upon a time.' });
    const answer = await validate({
      dataset_id: id,
      file_name: 'a.TXT',
      input_column: null,
      output_column: null,
    });
    expect(answer.critical_errors).toEqual([]);
  });
});
