import { expect, test } from 'vitest';
import { combinationsOf, nameCombination, sweptWith } from './sweep-axes.ts';
import { quoteSweep } from './sweeps.ts';

const id = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11';
const payload = { asset_id: id, model_name: 'rye', base_model: id, file_name: 'rows.csv', user_id: 'ada' };

/** What is said of the axes: the field and the message. */
function faultOf(axes: unknown): string[] {
  const { error } = quoteSweep.body?.safeParse({ axes, fine_tune_payload: payload }) ?? {};
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('each pair of values is a run, and those of the second parameter change first', () => {
  const axes = [
    { parameter: 'learning_rate' as const, values: [0.001, 0.0002] },
    { parameter: 'lora_r' as const, values: [8, 16] },
  ];
  expect(combinationsOf(axes)).toEqual([
    { learning_rate: 0.001, lora_r: 8 },
    { learning_rate: 0.001, lora_r: 16 },
    { learning_rate: 0.0002, lora_r: 8 },
    { learning_rate: 0.0002, lora_r: 16 },
  ]);
  expect(combinationsOf(axes.slice(1))).toEqual([{ lora_r: 8 }, { lora_r: 16 }]);
  expect(combinationsOf(axes).map(nameCombination)[1]).toBe('Learning rate 0.001, LoRA rank 16');
});

test('each objective is swept over what it has', () => {
  expect(sweptWith({ objective: 'sft', adaptation: 'lora' })).toContain('neftune_noise_alpha');
  expect(sweptWith({ objective: 'sft', adaptation: 'lora' })).not.toContain('beta');
  expect(sweptWith({ objective: 'dpo', adaptation: 'lora' })).toEqual(
    expect.arrayContaining(['beta', 'sft_weight']),
  );
  expect(sweptWith({ objective: 'dpo', adaptation: 'lora' })).not.toContain('neftune_noise_alpha');
  expect(sweptWith({ objective: 'grpo', adaptation: 'lora' })).toContain('generations');
  expect(sweptWith({ objective: 'sft', adaptation: 'full' })).not.toContain('lora_r');
  expect(sweptWith({ objective: 'sft', adaptation: 'qlora' })).toContain('lora_r');
});

const rates = { parameter: 'learning_rate', values: [0.001, 0.0002] };
const ranks = { parameter: 'lora_r', values: [4, 8] };

test.each([
  ['two parameters', [rates, ranks], []],
  ['sixteen runs', [{ ...rates, values: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => n / 100) }, ranks], []],
  ['none', [], ['axes: A sweep has at least one parameter']],
  [
    'three',
    [rates, ranks, { parameter: 'epochs', values: [1, 2] }],
    ['axes: A sweep has at most 2 parameters'],
  ],
  ['the same twice', [rates, rates], ['axes: Choose two different parameters']],
  ['a single value', [{ ...ranks, values: [8] }], ['axes.0.values: Enter at least two values']],
  ['a repeated value', [{ ...ranks, values: [8, 8] }], ['axes.0.values: Enter each value once']],
  [
    'too large a value',
    [rates, { ...ranks, values: [8, 512] }],
    ['axes.1.values.1: LoRA rank must be at most 256'],
  ],
  ['half a rank', [{ ...ranks, values: [8, 8.5] }], ['axes.0.values.1: LoRA rank must be a whole number']],
  ['no rate', [{ ...rates, values: [0, 0.1] }], ['axes.0.values.0: Learning rate must be greater than 0']],
  [
    'too many runs',
    [
      { ...rates, values: [0.1, 0.2, 0.3] },
      { ...ranks, values: [1, 2, 3, 4, 5, 6] },
    ],
    ['axes: These values make 18 runs: a sweep has at most 16'],
  ],
])('%s', (_what, axes, faults) => {
  expect(faultOf(axes)).toEqual(faults);
});

test('ten thousand values of each are refused without making a hundred million runs', () => {
  const values = Array.from({ length: 10_000 }, (_, at) => (at + 1) / 10_000);
  const faults = faultOf([
    { ...rates, values },
    { parameter: 'weight_decay', values },
  ]);
  expect(faults).toContain('axes.0.values: Enter at most 8 values');
});

test('what changes how runs are measured is no parameter of a sweep', () => {
  for (const parameter of ['train_test_split', 'eval_steps', 'temperature', 'seed'])
    expect(faultOf([{ parameter, values: [1, 2] }])).toEqual([
      expect.stringMatching(/^axes\.0\.parameter: parameter must be one of learning_rate, /),
    ]);
});
