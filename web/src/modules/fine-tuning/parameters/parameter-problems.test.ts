import { describe, expect, it } from 'vitest';
import { parameterProblems } from './parameter-problems.ts';
import { blankReward } from './rewards/reward-draft.ts';
import { blankFormat, initialParameters, type TrainingParameters } from './training-parameters.ts';

describe('parameterProblems', () => {
  it('has none at the defaults for a text file', () => {
    expect(parameterProblems(initialParameters, 'story.TXT')).toEqual({});
  });

  it('requires both columns for other files', () => {
    const message = 'Input and output columns are required for non-text files';
    expect(parameterProblems({ ...initialParameters, input_column: 'q' }, 'rows.csv')).toEqual({
      output_column: message,
    });
  });

  it('requires columns for formats with columns', () => {
    const of = (data_format: TrainingParameters['data_format']) =>
      parameterProblems({ ...initialParameters, data_format }, 'rows.jsonl');
    expect(Object.keys(of('prompt_completion'))).toEqual(['input_column', 'output_column']);
    expect(of('text')).toEqual({ input_column: 'Please choose the text column' });
    for (const format of ['messages', 'sharegpt', 'alpaca'] as const) expect(of(format)).toEqual({});
  });

  it('rejects the same column for both', () => {
    const same = { ...initialParameters, input_column: 'q', output_column: 'q' };
    expect(parameterProblems(same, 'rows.csv')).toEqual({
      output_column: 'Input and output must be different columns',
    });
  });

  it('prompts require valid rewards, and answers that leave room for the question', () => {
    const of = (values: Partial<TrainingParameters>) =>
      parameterProblems(
        {
          ...initialParameters,
          ...blankFormat('prompts'),
          input_column: 'q',
          lora_target_modules: ['q_proj'],
          ...values,
        },
        'rows.jsonl',
      );
    const pattern = { ...blankReward, pattern: '^Yes' };
    expect(of({ rewards: [pattern] })).toEqual({});
    expect(of({})).toEqual({ rewards: 'Write a pattern' });
    expect(of({ rewards: [] })).toEqual({ rewards: 'GRPO learns from rewards: add at least one' });
    const match = { ...blankReward, type: 'match' as const };
    expect(of({ rewards: [pattern, match] })).toEqual({
      rewards: 'Reward 2: Choose the column with the reference, or another reward',
    });
    expect(of({ rewards: [match], output_column: 'a' })).toEqual({});
    expect(of({ rewards: [match], output_column: 'q' }).output_column).toContain('different columns');
    const check = { ...blankReward, type: 'string_check' as const };
    expect(of({ rewards: [check] }).rewards).toBe('Write the text, or choose the column with the reference');
    expect(of({ rewards: [check], output_column: 'a' })).toEqual({});
    expect(of({ rewards: [{ ...check, reference: 'rye' }] })).toEqual({});
    expect(of({ rewards: [{ ...check, reference: 'a'.repeat(1001) }] }).rewards).toContain('at most 1000');
    const schema = (json_schema: string) =>
      of({ rewards: [{ ...blankReward, type: 'json_schema', json_schema }] }).rewards;
    expect(schema('{}')).toBeUndefined();
    for (const text of ['', '{', '[]', 'null']) expect(schema(text)).toContain('as a JSON object');
    expect(of({ rewards: [{ ...pattern, weight: Number.NaN }] }).rewards).toContain('Reward weight must be');
    expect(of({ rewards: [pattern], max_new_tokens: 512 }).max_new_tokens).toContain('must be fewer');
    expect(of({ rewards: [pattern], input_column: '' })).toEqual({
      input_column: 'Please choose the prompt column',
    });
  });

  it('preferences require both answers, and a question only if they include none', () => {
    const of = (values: Partial<TrainingParameters>) =>
      parameterProblems({ ...initialParameters, data_format: 'preference', ...values }, 'rows.jsonl');
    const required = 'Output and rejected columns are required for preferences';
    expect(of({})).toEqual({ output_column: required, rejected_column: required });
    const answers = { output_column: 'chosen', rejected_column: 'rejected' };
    expect(of(answers)).toEqual({});
    expect(of({ ...answers, input_column: 'prompt' })).toEqual({});
    expect(of({ ...answers, rejected_column: 'chosen' })).toEqual({
      rejected_column: 'Output and rejected must be different columns',
    });
    expect(of({ ...answers, input_column: 'chosen' })).toEqual({
      input_column: 'Input must be another column than output and rejected',
    });
  });

  it('feedback requires an answer and its label', () => {
    const of = (values: Partial<TrainingParameters>) =>
      parameterProblems({ ...initialParameters, data_format: 'feedback', ...values }, 'rows.jsonl');
    const required = 'Output and label columns are required for feedback';
    expect(of({})).toEqual({ output_column: required, label_column: required });
    expect(of({ output_column: 'a', label_column: 'up' })).toEqual({});
    expect(of({ output_column: 'a', label_column: 'a' })).toEqual({
      label_column: 'Output and label must be different columns',
    });
    expect(of({ output_column: 'a', label_column: 'up', input_column: 'up' })).toEqual({
      input_column: 'Input must be another column than output and label',
    });
  });

  it("validates an objective's settings only for that objective", () => {
    const bad = { ...initialParameters, beta: 0, sft_weight: 11, neftune_noise_alpha: -1 };
    expect(parameterProblems(bad, 'a.txt')).toEqual({
      neftune_noise_alpha: 'NEFTune noise must be at least 0',
    });
    expect(parameterProblems({ ...bad, objective: 'dpo' }, 'a.txt')).toEqual({
      beta: 'Beta must be at least 0.001',
      sft_weight: 'SFT weight must be at most 10',
      lora_target_modules: 'lm_head cannot be trained with DPO: leave it out',
    });
    const kto = { ...bad, objective: 'kto', desirable_weight: 0, undesirable_weight: 101 } as const;
    expect(parameterProblems(kto, 'a.txt')).toEqual({
      beta: 'Beta must be at least 0.001',
      desirable_weight: 'Weight of good answers must be greater than 0',
      undesirable_weight: 'Weight of bad answers must be at most 100',
      batch_size: 'KTO compares the answers of a batch: its batch size must be at least 2',
      lora_target_modules: 'lm_head cannot be trained with KTO: leave it out',
    });
  });

  it('names each field that is out of bounds', () => {
    const bad = {
      ...initialParameters,
      epochs: 0,
      learning_rate: 0,
      accelerator_count: 3,
      stride: Number.NaN,
      lora_dropout: 0.6,
    };
    expect(parameterProblems(bad, 'a.txt')).toEqual({
      epochs: 'Epochs must be at least 1',
      learning_rate: 'Learning rate must be greater than 0',
      accelerator_count: 'Please select a valid number of GPUs (1, 2, 4, or 8)',
      stride: 'Stride must be at least 1',
      lora_dropout: 'LoRA dropout must be at most 0.5',
    });
  });

  it('requires no adapter settings if all weights are trained', () => {
    const values = { ...initialParameters, lora_r: 0, lora_dropout: 0.6, lora_target_modules: [] };
    expect(Object.keys(parameterProblems(values, 'a.txt'))).toHaveLength(3);
    expect(parameterProblems({ ...values, adaptation: 'full' }, 'a.txt')).toEqual({});
  });

  it('requires an adapter without lm_head for a 4-bit base', () => {
    const qlora = { ...initialParameters, adaptation: 'qlora' as const };
    expect(qlora.lora_target_modules).toContain('lm_head');
    expect(parameterProblems(initialParameters, 'a.txt')).toEqual({});
    expect(parameterProblems(qlora, 'a.txt')).toEqual({
      lora_target_modules: 'lm_head cannot be trained with QLoRA: leave it out',
    });
    expect(parameterProblems({ ...qlora, lora_r: 0 }, 'a.txt')).toHaveProperty('lora_r');
  });

  it('orders fields by importance, because the toast shows the first', () => {
    const bad = {
      ...initialParameters,
      epochs: 0,
      learning_rate: 0,
      accelerator_type: null,
      accelerator_count: 3,
      batch_size: 0,
    };
    expect(Object.keys(parameterProblems(bad, 'a.csv'))).toEqual([
      'epochs',
      'learning_rate',
      'accelerator_type',
      'accelerator_count',
      'input_column',
      'output_column',
      'batch_size',
    ]);
  });

  it('requires integers where fractions make no sense', () => {
    const halves = { ...initialParameters, epochs: 2.5, lora_r: 7.5, lora_dropout: 0.25 };
    expect(parameterProblems(halves, 'a.txt')).toEqual({
      epochs: 'Epochs must be a whole number',
      lora_r: 'LoRA rank must be a whole number',
    });
  });

  it('names each field above its bound, like the server', () => {
    const bad = { ...initialParameters, epochs: 1001, learning_rate: 1.5, batch_size: 1025 };
    expect(parameterProblems(bad, 'a.txt')).toEqual({
      epochs: 'Epochs must be at most 1000',
      learning_rate: 'Learning rate must be at most 1',
      batch_size: 'Batch size must be at most 1024',
    });
    const largest = { ...initialParameters, epochs: 1000, learning_rate: 1, batch_size: 1024 };
    expect(parameterProblems(largest, 'a.txt')).toEqual({});
  });
});
