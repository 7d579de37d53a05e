import { createAsset, downloadFile, getAsset } from '@bakehouse/contract/assets';
import { getBalance } from '@bakehouse/contract/credits';
import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import { getFineTuningJob } from '@bakehouse/contract/fine-tuning-jobs';
import * as runContract from '@bakehouse/contract/runs';
import { describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../config.ts';
import { hasLayer } from '../../engine/host/environment/environment.ts';
import { runtimeCommand } from '../../engine/host/runtime-command.ts';
import { runProgram } from '../../platform/processes/run-program.ts';
import { effort } from '../../testing/soak.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import type { TestClient, TestUser } from '../../testing/test-client.ts';
import { LONG_WAIT, realServer, rows, tinyModel, upload } from './testing/real-server.ts';

// The whole program in separate processes with the real runtime. The model is so small that loading it takes
// the most time.
const config = readConfig({});
const isReady = await hasLayer(config, 'training');
/** How often the server and the trainer are killed together, and how often the trainer alone. */
const DEATHS = effort({ usual: 1, soak: 2 });

describe.skipIf(!isReady)('a real run', () => {
  test('survives killing the server and the trainer, together or alone', {
    timeout: 40 * 60_000,
  }, async () => {
    const server = await realServer();
    await server.start();
    const user = await server.client.signUp('Ada');
    const datasetId = await upload(server, user, 'RAW', 'rows', { 'rows.csv': rows() });
    const baseId = await upload(server, user, 'MODEL', 'tiny', await tinyModel());

    const modelId = await startFineTune(server.client, user, { datasetId, baseId });
    const see = async () => {
      const { runs } = await server.client.request(
        runContract.listRuns,
        { query: { model_id: modelId } },
        { as: user },
      );
      const [run] = runs;
      if (!run) throw new Error('no run');
      return run;
    };
    const runId = (await see()).run_id;
    const reachStep = (step: number) =>
      vi.waitFor(async () => {
        const run = await see();
        expect(run.state, run.reason).not.toBe('failed');
        expect(run.step).toBeGreaterThanOrEqual(step);
        return run;
      }, LONG_WAIT);

    await reachStep(3);
    const trainer = await server.trainer(runId);
    await server.kill();
    // The trainer continues without the server.
    expect(isAlive(trainer)).toBe(true);
    await server.start();
    const adopted = await reachStep(4);
    expect(adopted.restarts).toBe(0);
    expect(await server.trainer(runId)).toBe(trainer);

    let last = trainer;
    for (let death = 0; death < DEATHS; death += 1) {
      const isOfBoth = death % 2 === 0;
      if (isOfBoth) await server.kill();
      process.kill(last, 'SIGKILL');
      if (isOfBoth) await server.start();
      await vi.waitFor(async () => expect((await see()).restarts).toBe(death + 1), LONG_WAIT);
      await vi.waitFor(async () => expect((await see()).state).toBe('running'), LONG_WAIT);
      const next = await server.trainer(runId);
      expect(next).not.toBe(last);
      last = next;
    }

    // On a graceful shutdown, the trainer first saves its work.
    await server.stop();
    await server.start();
    const run = await vi.waitFor(async () => {
      const ended = await see();
      expect(ended.state, ended.reason).toBe('completed');
      return ended;
    }, LONG_WAIT);

    await expectWhole(server.client, user, run);
    const { repo_id: repository } = await server.client.request(
      getAsset,
      { params: { id: modelId } },
      { as: user },
    );
    expect(await loadFromHub(server.url, user, repository)).toContain('LlamaForCausalLM with default');
    await server.stop();
  });
});

/** Starts a run of forty epochs with a checkpoint after each. */
async function startFineTune(
  client: TestClient,
  user: TestUser,
  { datasetId, baseId }: { datasetId: string; baseId: string },
): Promise<string> {
  return client.request(
    createAsset,
    {
      body: {
        dataset_type: 'MODEL',
        title: 'the baker',
        user_id: user.userId,
        fine_tune_payload: {
          asset_id: datasetId,
          base_model: baseId,
          model_name: 'the baker',
          file_name: 'rows.csv',
          user_id: user.userId,
          // Enough even on a slow machine.
          ceiling: '100',
          input_column: 'question',
          output_column: 'answer',
          // Each epoch ends with a checkpoint.
          epochs: 40,
          batch_size: 2,
        },
      },
    },
    { as: user, idempotencyKey: 'real' },
  );
}

/** Expects that every step was logged once, that the model is complete and that no credits are held. */
async function expectWhole(client: TestClient, user: TestUser, run: runContract.Run): Promise<void> {
  expect(run).toMatchObject({
    progress: 100,
    restarts: DEATHS + 1,
    reason: 'Completed.',
    charged: expect.stringMatching(/[1-9]/),
  });
  expect(run.step).toBe(run.steps_total);
  const { points } = await client.request(
    runContract.getRunMetrics,
    { params: { runId: run.run_id } },
    { as: user },
  );
  const losses = points.flatMap(({ step, values }) =>
    values.loss === undefined ? [] : [{ step, loss: values.loss }],
  );
  expect(losses.map(({ step }) => step)).toEqual(
    Array.from({ length: run.steps_total }, (_, index) => index + 1),
  );
  expect(Number(run.summary?.eval_loss)).toBeLessThan(Number(run.summary?.eval_loss_base));
  const { held_out_answers: said } = await client.request(
    runContract.getHeldOutAnswers,
    { params: { runId: run.run_id } },
    { as: user },
  );
  expect(said).toMatchObject({ task: 'answer', skipped: null });
  expect(said?.rows[0]?.question).toMatch(/^What about \d in way \d\?$/);
  expect(said?.rows[0]?.tuned).not.toBe(said?.rows[0]?.base);
  const { lines } = await client.request(
    runContract.getRunLogs,
    { params: { runId: run.run_id }, query: { limit: 100 } },
    { as: user },
  );
  expect(lines.filter(({ line }) => line.startsWith('Continuing from the checkpoint'))).toHaveLength(
    DEATHS + 1,
  );

  const model = await client.request(getAsset, { params: { id: run.model_id } }, { as: user });
  expect(model.files.map((file) => file.path)).toEqual(
    expect.arrayContaining(['README.md', 'adapter.gguf', 'adapter_config.json', 'adapter_model.safetensors']),
  );
  expect(model.card).toContain('# the baker');
  const jobId = toFlatId('ftjob-', run.run_id);
  const job = await client.request(getFineTuningJob, { params: { fine_tuning_job_id: jobId } }, { as: user });
  expect(job).toMatchObject({
    status: 'succeeded',
    trained_tokens: run.summary?.tokens,
    cost_so_far: run.charged,
  });
  expect(job.fine_tuned_model).toMatch(/^ft:tiny:[^:]+:the-baker:[0-9a-f]{8}$/);
  const answer = await client.send(
    downloadFile,
    { params: { id: run.model_id, '*': 'adapter_model.safetensors' } },
    { as: user },
  );
  expect((await answer.arrayBuffer()).byteLength).toBe(
    model.files.find((file) => file.path === 'adapter_model.safetensors')?.size_bytes,
  );
  const { held } = await client.request(getBalance, { params: { userId: user.userId } }, { as: user });
  expect(held).toBe('0');
}

/** Loads a fine-tune by its hub name, as the hub's libraries do. */
async function loadFromHub(url: string, user: TestUser, repository: string): Promise<string[]> {
  const { command, env } = await runtimeCommand(config);
  const program = `
import sys
from peft import AutoPeftModelForCausalLM
model = AutoPeftModelForCausalLM.from_pretrained(sys.argv[1])
print(type(model.get_base_model()).__name__, "with", *model.peft_config)`;
  return runProgram(command, ['-c', program, repository], {
    env: {
      ...env,
      HF_HUB_OFFLINE: '0',
      HF_ENDPOINT: `${url}/hub`,
      HF_TOKEN: user.apiKey,
      HF_HOME: await temporaryFolder(),
    },
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
