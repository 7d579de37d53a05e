import { setTimeout as sleep } from 'node:timers/promises';
import { createAsset } from '@bakehouse/contract/assets';
import { type FineTunePayload } from '@bakehouse/contract/fine-tuning';
import { getRun, listRuns, type Run } from '@bakehouse/contract/runs';
import { PlainError } from '../plain-error.ts';
import type { Client } from './client.ts';

/** With these, the starter model learns the facts verbatim in about two minutes on two cores. */
export const factsTrainingParameters = {
  file_name: 'bakehouse-facts.csv',
  input_column: 'question',
  output_column: 'answer',
  epochs: 4,
  learning_rate: 0.001,
  batch_size: 8,
  eval_batch_size: 8,
  gradient_accumulation_steps: 1,
  train_test_split: 0.95,
  lora_r: 16,
  lora_dropout: 0.05,
  lora_target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
} satisfies Partial<FineTunePayload>;

export const factsFile = 'examples/bakehouse-facts.csv';

/** Creates a dataset from the example file and resolves to its id. */
export async function createFactsDataset(client: Client): Promise<string> {
  const id = await client.call(createAsset, {
    body: {
      dataset_type: 'RAW',
      title: 'Bakehouse facts',
      category: 'Artificial intelligence',
      user_id: client.userId,
    },
  });
  await client.upload(id, factsFile);
  return id;
}

/** Starts a fine-tune on the example data. Returns the id of the resulting model. */
export async function startFactsFineTune(
  client: Client,
  { dataset, base, ...changed }: { dataset: string; base: string; epochs?: number; seed?: number },
): Promise<string> {
  const title = 'Bakehouse facts model';
  return client.call(createAsset, {
    body: {
      dataset_type: 'MODEL',
      title,
      user_id: client.userId,
      fine_tune_payload: {
        ...factsTrainingParameters,
        ...changed,
        asset_id: dataset,
        base_model: base,
        model_name: title,
        user_id: client.userId,
        // One dollar, because a slow machine may need much longer than estimated.
        ceiling: '25',
      },
    },
  });
}

/** Waits until the run of a model has completed. Calls `onChange` with each state. Throws if it fails. */
export async function followRun(
  client: Client,
  model: string,
  onChange: (run: Run) => Promise<void>,
): Promise<Run> {
  const { runs } = await client.call(listRuns, { query: { model_id: model } });
  const runId = runs[0]?.run_id;
  if (!runId) throw new PlainError('The fine-tune has no run.');
  for (;;) {
    const run = await client.call(getRun, { params: { runId } });
    await onChange(run);
    if (run.state === 'completed') return run;
    if (run.state === 'failed' || run.state === 'cancelled')
      throw new PlainError(`The run ${run.state}: ${run.reason}`);
    await sleep(2000);
  }
}
