import { describe, expect, it } from 'vitest';
import { parameterProblems } from './parameter-problems.ts';
import { initialParameters, type TrainingParameters } from './training-parameters.ts';

describe('parameterProblems', () => {
  it('has none at the defaults for a text file', () => {
    expect(parameterProblems(initialParameters, 'story.TXT')).toEqual({});
  });

  it('needs both columns for other files', () => {
    const message = 'Input and output columns are required for non-text files';
    expect(parameterProblems({ ...initialParameters, input_column: 'q' }, 'rows.csv')).toEqual({
      output_column: message,
    });
  });

  it('asks for columns where the format has them', () => {
    const of = (data_format: TrainingParameters['data_format']) =>
      parameterProblems({ ...initialParameters, data_format }, 'rows.jsonl');
    expect(Object.keys(of('prompt_completion'))).toEqual(['input_column', 'output_column']);
    expect(of('text')).toEqual({ input_column: 'Please choose the text column' });
    for (const format of ['messages', 'sharegpt', 'alpaca'] as const) expect(of(format)).toEqual({});
  });

  it('refuses the same column for both', () => {
    const same = { ...initialParameters, input_column: 'q', output_column: 'q' };
    expect(parameterProblems(same, 'rows.csv')).toEqual({
      output_column: 'Input and output must be different columns',
    });
  });

  it('asks preferences for both answers, and for a question only where they bring none', () => {
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

  it('checks what an objective is asked for only with it', () => {
    const bad = { ...initialParameters, beta: 0, sft_weight: 11, neftune_noise_alpha: -1 };
    expect(parameterProblems(bad, 'a.txt')).toEqual({
      neftune_noise_alpha: 'NEFTune noise must be at least 0',
    });
    expect(parameterProblems({ ...bad, objective: 'dpo' }, 'a.txt')).toEqual({
      beta: 'Beta must be at least 0.001',
      sft_weight: 'SFT weight must be at most 10',
      lora_target_modules: 'lm_head cannot be trained with DPO: leave it out',
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

  it('names first what the product names first, since the toast shows that', () => {
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

  it('asks for whole numbers where parts make no sense', () => {
    const halves = { ...initialParameters, epochs: 2.5, lora_r: 7.5, lora_dropout: 0.25 };
    expect(parameterProblems(halves, 'a.txt')).toEqual({
      epochs: 'Epochs must be a whole number',
      lora_r: 'LoRA rank must be a whole number',
    });
  });

  it('names each field that is above its bound, as the server would', () => {
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
