import { describe, expect, test } from 'vitest';
import { listed } from '../../../engine/testing/test-gpus.ts';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { pricesAt } from '../../billing/prices/prices-at.ts';
import {
  ADAM,
  correctMemoryEstimate,
  countEvaluations,
  cpuSeconds,
  DORA,
  findMemoryFault,
  gpuSeconds,
  recommendGpus,
  runCostMicro,
  runFlops,
  type Work,
} from './estimate-run.ts';

const GB = 1024 ** 3;
const prices = pricesAt([], new Date());
/** The example by which the formulas were checked: 8.03B parameters and 10M tokens. */
const work: Work = {
  objective: 'sft',
  adaptation: 'lora',
  dora: null,
  written: null,
  train_tokens: 10_000_000,
  train_padded_tokens: 10_000_000,
  eval_padded_tokens: 0,
  // Each example has 512 tokens.
  train_examples: 19_531,
  eval_examples: 0,
  base_parameters: 8_030_000_000,
  epochs: 1,
  steps: 1,
  // All examples in one batch.
  batchSize: 19_531,
  evalBatchSize: 1,
  evaluations: 1,
};

test('GRPO trains on all generated tokens; on a GPU each token takes a minimum time', () => {
  const asked = { ...work, train_padded_tokens: 1000, train_examples: 10, batchSize: 5, base_parameters: 1 };
  const written = { ...asked, objective: 'grpo', written: { answers: 8, tokens: 50 } } as const;
  // Trains on 8 x (1000 + 10 x 50) tokens, and runs the base on them. Generates 8 x 10 x 50 tokens.
  expect(runFlops(written, 'cpu')).toBe(6 * 12_000 + 6 * 4_000);
  expect(runFlops(written, 'gpu')).toBe(8 * 12_000 + 2 * 4_000);
  const evaluated = { ...written, eval_examples: 4, eval_padded_tokens: 400, evaluations: 2 };
  expect(runFlops(evaluated, 'cpu') - runFlops(written, 'cpu')).toBe(2 * (2 * 400 + 6 * 4 * 50));
  const longer = { ...written, written: { answers: 8, tokens: 150 } };
  const waited = gpuSeconds(longer, 'NVIDIA_H100_80GB') - gpuSeconds(written, 'NVIDIA_H100_80GB');
  // Two batches with 100 more tokens each.
  expect(waited).toBeCloseTo(2 * 100 * 0.03, 3);
});

test('a full fine-tune computes all gradients and updates all weights in every step', () => {
  const one = { ...work, train_padded_tokens: 1000, base_parameters: 1_000_000, steps: 10 };
  const full = { ...one, adaptation: 'full' } as const;
  expect(runFlops(full, 'cpu') - runFlops(one, 'cpu')).toBe(1e6 * (2 * 1000 + 10 * ADAM));
  expect(runFlops(full, 'gpu') - runFlops(one, 'gpu')).toBe(1e6 * 2 * 1000);
  const stepsAlone = { ...full, base_parameters: 1e9, steps: 110 };
  const waited =
    gpuSeconds(stepsAlone, 'NVIDIA_H100_80GB') - gpuSeconds({ ...stepsAlone, steps: 10 }, 'NVIDIA_H100_80GB');
  expect(waited).toBeCloseTo(3, 3);
});

test('DoRA with dropout multiplies by the base twice, and computes norms in each pass', () => {
  const one = { ...work, train_padded_tokens: 1000, train_examples: 8, batchSize: 2, base_parameters: 1e6 };
  const dora = { ...one, dora: { dropout: 0 } };
  const dropped = { ...one, dora: { dropout: 0.05 } };
  expect(runFlops(dora, 'cpu') - runFlops(one, 'cpu')).toBe(1e6 * 4 * DORA);
  expect(runFlops(dropped, 'cpu') - runFlops(dora, 'cpu')).toBe(1e6 * 4 * 1000);
  expect(runFlops(dropped, 'gpu') - runFlops(dora, 'gpu')).toBe(1e6 * 6 * 1000);
  const large = { ...dora, base_parameters: 8e9 };
  const waited =
    gpuSeconds(large, 'NVIDIA_H100_80GB') - gpuSeconds({ ...large, dora: null }, 'NVIDIA_H100_80GB');
  // Four passes. Each one takes the time to move 94 bytes per weight.
  expect(waited).toBeCloseTo((4 * 8e9 * 93.75) / 1.5e12, 3);
});

test.each([
  [256, 1.2, 3],
  [512, 1.5, 3],
  [2048, 5.2, 7],
  [8192, 21.3, 22.3],
])('QLoRA is slower than LoRA by the measured factor for rows of %d tokens', (tokens, lora, qlora) => {
  // Measured with Qwen 7B on an A100: seconds per step of eight rows, one row at a time.
  const step = {
    ...work,
    ...{ base_parameters: 7.72e9, train_examples: 8, batchSize: 1 },
    ...{ train_tokens: 8 * tokens, train_padded_tokens: 8 * tokens },
  };
  const longer =
    gpuSeconds({ ...step, adaptation: 'qlora' }, 'NVIDIA_TESLA_A100') - gpuSeconds(step, 'NVIDIA_TESLA_A100');
  expect(Math.abs(longer - (qlora - lora))).toBeLessThan(0.55);
  expect(longer).toBeGreaterThan(0.9);
});

test('DPO also runs the base on each token; KTO also runs both models on answers to other questions', () => {
  const evaluated = { ...work, eval_padded_tokens: 10_000_000 };
  expect(runFlops(evaluated, 'cpu')).toBe(8_030_000_000 * 10_000_000 * 6);
  expect(runFlops({ ...evaluated, objective: 'dpo' }, 'cpu')).toBe(8_030_000_000 * 10_000_000 * 10);
  expect(runFlops({ ...evaluated, objective: 'kto' }, 'cpu')).toBe(8_030_000_000 * 10_000_000 * 18);
});

test.each([
  [24, 3, 0, 3],
  [24, 3, 5, 7],
  // Evaluations at the end of an epoch are not repeated.
  [24, 3, 4, 6],
  [24, 3, 8, 3],
  [24, 3, 100, 3],
  [0, 3, 5, 3],
])(
  'with %d steps in %d epochs, evaluating every %d steps gives %d evaluations',
  (steps, epochs, every, times) => {
    expect(countEvaluations(steps, epochs, every)).toBe(times);
  },
);

test('more evaluations cost more', () => {
  const evaluated = { ...work, eval_padded_tokens: 10_000_000 };
  const once = runFlops(evaluated, 'cpu');
  expect(runFlops({ ...evaluated, evaluations: 5 }, 'cpu') - once).toBe(4 * 2 * 10_000_000 * 8_030_000_000);
});

describe('the time of a run', () => {
  test.each([
    ['NVIDIA_TESLA_V100', 4.9],
    ['NVIDIA_TESLA_A100', 1.07],
    ['NVIDIA_H100_80GB', 0.39],
    ['NVIDIA_TESLA_A100_80GB', 1.07],
  ] as const)('on %s is about %f hours', (type, hours) => {
    expect(gpuSeconds(work, type) / 3600).toBeCloseTo(hours, 1);
  });

  test('on a CPU uses the default speed until a speed is measured', () => {
    expect(cpuSeconds(work, 2, null)).toBeCloseTo(runFlops(work, 'cpu') / 80e9, 0);
    expect(cpuSeconds(work, 2, 1e12)).toBeCloseTo(runFlops(work, 'cpu') / 1e12, 0);
  });

  test('grows with padding, but not with an unused chunk size', () => {
    const padded = { ...work, train_padded_tokens: 19_000_000, eval_padded_tokens: 3_000_000 };
    expect(runFlops(padded, 'gpu') / runFlops(work, 'gpu')).toBeCloseTo((6 * 19 + 2 * 3) / (6 * 10), 6);
    // With examples of 100 tokens, an A100 is slow, whatever the chunk size.
    const short = { ...work, train_examples: 100_000 };
    const ratio = gpuSeconds(short, 'NVIDIA_TESLA_A100') / gpuSeconds(work, 'NVIDIA_TESLA_A100');
    expect(ratio).toBeCloseTo(0.4 / 0.25, 3);
  });

  test('of a tiny model is the minimum time of its passes', () => {
    const tiny = {
      ...work,
      base_parameters: 100_000,
      train_tokens: 1000,
      train_padded_tokens: 1000,
      train_examples: 100,
      epochs: 3,
      batchSize: 2,
    };
    expect(gpuSeconds(tiny, 'NVIDIA_H100_80GB')).toBeCloseTo(3 * 50 * 0.05, 1);
  });
});

describe('memory', () => {
  test('follows the formula; measurements raise it by at most half', () => {
    expect(correctMemoryEstimate(10 * GB, null)).toBe(10 * GB);
    expect(correctMemoryEstimate(10 * GB, 1.2)).toBe(12 * GB);
    expect(correctMemoryEstimate(10 * GB, 0.1)).toBe(10 * GB);
    expect(correctMemoryEstimate(10 * GB, 9)).toBe(15 * GB);
  });

  test('must fit with headroom', () => {
    const v100 = listed('NVIDIA_TESLA_V100', [0]);
    expect(findMemoryFault(14.5 * GB, v100, 0)).toBeNull();
    expect(findMemoryFault(15.5 * GB, v100, 0)).toBe(
      'The run needs about 15.5 GB of memory, and the NVIDIA Tesla V100 (16GB) has 16.0 GB. ' +
        'Choose a smaller batch size, chunk size or base model, or a larger GPU.',
    );
    expect(findMemoryFault(15.5 * GB, { ...v100, memoryBytes: 32 * GB }, 0)).toBeNull();
    expect(findMemoryFault(3 * GB, null, 2 * GB)).toContain('this machine has 2.0 GB');
  });

  test('recommends only large enough GPUs, cheapest first', () => {
    const [first, ...others] = recommendGpus(work, 30 * GB, prices);
    expect(first).toEqual({
      gpu_type: 'NVIDIA_H100_80GB',
      description: 'NVIDIA H100 (80GB): needs 30.0 GB, about 23 min',
      cost: expect.stringMatching(/^\d+\.\d+$/),
    });
    expect(others).toHaveLength(2);
    expect(recommendGpus(work, 100 * GB, prices)).toEqual([]);
  });
});

test('the cost is hours x devices x price', () => {
  expect(runCostMicro(defaultPrice('training:CPU'), 3600, 1)).toBe(2_500_000n);
  expect(runCostMicro(defaultPrice('training:NVIDIA_H100_80GB'), 1800, 2)).toBe(75_000_000n);
});
