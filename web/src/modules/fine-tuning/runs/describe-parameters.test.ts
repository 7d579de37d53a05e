import { pictureTrainingPresets } from '@bakehouse/contract/diffusion-fields';
import type { TextRun } from '@bakehouse/contract/runs';
import { expect, it } from 'vitest';
import { initialParameters } from '../parameters/training-parameters.ts';
import { describeParameters } from './describe-parameters.ts';

it('shows where the run ran, not the requested GPU', () => {
  const parameters = {
    ...initialParameters,
    model_name: 'Crumb',
    input_column: 'question',
    output_column: null,
    learning_rate: 0.0000005,
    accelerator_type: 'NVIDIA_TESLA_A100',
    accelerator_count: 1,
    lora_target_modules: ['q_proj', 'v_proj', 'lm_head'],
  } as const;
  const run = {
    kind: 'text' as const,
    device: 'CPU',
    summary: null,
    parameters: { ...parameters, rewards: [], lora_target_modules: [...parameters.lora_target_modules] },
  };
  const rows = describeParameters({ ...run, dataset: { file_name: 'rows.csv' } });
  expect(rows[0]).toEqual({ name: 'Runs on', value: 'This machine’s CPU' });
  expect(rows).toContainEqual({ name: 'Input column', value: 'question' });
  expect(rows).toContainEqual({ name: 'Learning rate', value: '5e−7' });
  expect(rows).toContainEqual({ name: 'Output column', value: '–' });
  expect(rows).toContainEqual({ name: 'LoRA target modules', value: 'q_proj, v_proj, lm_head' });
  const summary = { target_modules: 'q_proj, v_proj' };
  expect(describeParameters({ ...run, summary, dataset: { file_name: 'rows.csv' } })).toContainEqual({
    name: 'LoRA target modules',
    value: 'q_proj, v_proj',
  });
  expect(JSON.stringify(rows)).not.toMatch(/A100|Accelerator|Crumb|Stride|Segmentation/);
  expect(describeParameters({ ...run, dataset: { file_name: 'book.txt' } })).toContainEqual({
    name: 'Stride',
    value: '50',
  });
});

it('shows the objective of preferences, but not of other rows', () => {
  const parameters = {
    ...{ ...initialParameters, rewards: [], model_name: 'Crumb', lora_target_modules: ['q_proj' as const] },
    ...{ accelerator_type: 'NVIDIA_TESLA_A100' as const, accelerator_count: 1 as const },
  };
  const described = (values: Partial<TextRun['parameters']>) =>
    describeParameters({
      ...{ kind: 'text' as const, device: 'CPU', summary: null, dataset: { file_name: 'rows.csv' } },
      parameters: { ...parameters, ...values },
    });
  expect(described({ use_rslora: true })).toContainEqual({
    ...{ name: 'Scaling', value: 'Rank-stabilized (rsLoRA)' },
  });
  expect(described({ use_dora: true })).toContainEqual({
    name: 'Magnitudes',
    value: 'Weight-decomposed (DoRA)',
  });
  const qlora = described({ adaptation: 'qlora' });
  expect(qlora).toContainEqual({
    name: 'Adaptation',
    value: 'QLoRA: a small adapter, with the base in 4 bits',
  });
  expect(JSON.stringify(qlora)).toContain('LoRA target modules');
  const full = described({ adaptation: 'full', lora_target_modules: [] });
  expect(full).toContainEqual({ name: 'Adaptation', value: 'Full: all weights' });
  expect(JSON.stringify(full)).not.toContain('modules');
  expect(JSON.stringify(described({}))).not.toContain('Adaptation');
  expect(described({ packing: true })).toContainEqual({
    name: 'Packing',
    value: 'Short rows share a sequence',
  });
  expect(JSON.stringify(described({}))).not.toContain('Packing');
  const grpo = described({
    ...{ data_format: 'prompts', objective: 'grpo', generations: 4 },
    rewards: [
      { type: 'pattern', pattern: '^Yes', weight: 0.5 },
      { type: 'match', compare: 'last_number', weight: 1 },
    ],
  });
  expect(grpo).toContainEqual({ name: 'Objective', value: 'Learn from rewards (GRPO)' });
  expect(grpo).toContainEqual({ name: 'Rewards', value: 'pattern ^Yes × 0.5, match (the last number)' });
  expect(grpo).toContainEqual({ name: 'Answers per prompt', value: '4' });
  expect(JSON.stringify(described({}))).not.toMatch(/Rewards|Temperature/);
  const dpo = described({ data_format: 'preference', objective: 'dpo', rejected_column: 'worse' });
  expect(dpo).toContainEqual({ name: 'Objective', value: 'Prefer the better answers (DPO)' });
  expect(dpo).toContainEqual({ name: 'Beta', value: '0.1' });
  expect(dpo).toContainEqual({ name: 'SFT weight', value: '0' });
  expect(dpo).toContainEqual({ name: 'Rejected column', value: 'worse' });
  const sft = described({ data_format: 'preference', objective: 'sft', rejected_column: 'worse' });
  expect(sft).toContainEqual({ name: 'Objective', value: 'Learn the answers' });
  expect(JSON.stringify(sft)).not.toMatch(/Beta|SFT weight/);
  expect(JSON.stringify(described({ data_format: 'messages' }))).not.toMatch(/Objective|Beta|Rejected|Label/);
  const kto = described({ data_format: 'feedback', objective: 'kto', label_column: 'up' });
  expect(kto).toContainEqual({ name: 'Objective', value: 'Learn from good and bad (KTO)' });
  expect(kto).toContainEqual({ name: 'Weight of bad answers', value: '1' });
  expect(kto).toContainEqual({ name: 'Label column', value: 'up' });
  expect(JSON.stringify(kto)).not.toMatch(/SFT weight|NEFTune|Rejected/);
});

it('shows no split if there is a validation file', () => {
  const parameters = {
    ...{ ...initialParameters, rewards: [], model_name: 'Crumb', lora_target_modules: ['q_proj' as const] },
    ...{ accelerator_type: 'NVIDIA_TESLA_A100' as const, accelerator_count: 1 as const },
  };
  const run = { kind: 'text' as const, device: 'CPU', summary: null, parameters };
  const named = (validation: TextRun['validation']) =>
    describeParameters({ ...run, dataset: { file_name: 'rows.csv' }, validation }).map(({ name }) => name);
  expect(named(null)).toContain('Train/test split');
  expect(named({ dataset_id: 'd', revision_id: 'r', title: 'held', file_name: 'held.csv' })).not.toContain(
    'Train/test split',
  );
});

it('shows the parameters of picture training, except the sample prompts', () => {
  const rows = describeParameters({
    kind: 'pictures',
    device: 'CPU',
    parameters: {
      ...{ trigger_word: 'zwk', resolution: null, sample_prompts: [{ prompt: 'a cat', seed: 1 }] },
      ...pictureTrainingPresets.small.style,
    },
  });
  expect(rows).toContainEqual({ name: 'Trigger word', value: 'zwk' });
  expect(rows).toContainEqual({ name: 'LoRA rank', value: '16' });
  expect(rows).toContainEqual({ name: 'Steps between samples', value: '100' });
  expect(JSON.stringify(rows)).not.toMatch(/a cat|Resolution/);
});
