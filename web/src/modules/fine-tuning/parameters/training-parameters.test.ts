import { expect, it } from 'vitest';
import { blankReward, toDraft, toReward } from './rewards/reward-draft.ts';
import {
  blankFormat,
  differsFromDefaults,
  initialParameters,
  learningRateAdvice,
  usesParameter,
  wireParameters,
} from './training-parameters.ts';

it('a fine-tune from the Hub has no chunks', () => {
  expect(usesParameter('huggingface', 'stride')).toBe(false);
  expect(usesParameter('huggingface', 'lora_r')).toBe(true);
  expect(usesParameter('finetune', 'stride')).toBe(true);
});

it('warns about unusual learning rates', () => {
  expect(learningRateAdvice(0.001)).toBeNull();
  expect(learningRateAdvice(0.1)).toContain('0.0002');
  expect(learningRateAdvice(0.000001)).toContain('0.0002');
});

it('warns earlier for DPO, which tolerates less', () => {
  expect(learningRateAdvice(0.00005, 'dpo')).toBeNull();
  expect(learningRateAdvice(0.001, 'dpo')).toContain('With DPO this is much higher than usual');
  expect(learningRateAdvice(0.0000001, 'dpo')).toContain('0.00005');
});

it('sends DPO settings only with DPO', () => {
  const read = { ...initialParameters, ...blankFormat('preference'), rejected_column: 'worse' };
  expect(wireParameters(read)).toMatchObject({
    ...{ data_format: 'preference', objective: 'dpo', rejected_column: 'worse', beta: 0.1, sft_weight: 0 },
  });
  const sft = wireParameters({ ...read, objective: 'sft' });
  expect(sft).toMatchObject({ objective: 'sft' });
  expect(sft).not.toHaveProperty('beta');
  expect(wireParameters(read)).not.toHaveProperty('neftune_noise_alpha');
  expect(wireParameters({ ...read, packing: true })).not.toHaveProperty('packing');
  expect(wireParameters({ ...initialParameters, packing: true })).toHaveProperty('packing', true);
  expect(wireParameters(initialParameters)).not.toHaveProperty('rejected_column');
});

it('sends KTO settings only with KTO', () => {
  const read = { ...initialParameters, ...blankFormat('feedback'), label_column: 'up' };
  const weights = { desirable_weight: 1, undesirable_weight: 1 };
  expect(wireParameters(read)).toMatchObject({ objective: 'kto', label_column: 'up', beta: 0.1, ...weights });
  expect(wireParameters(read)).not.toHaveProperty('sft_weight');
  expect(wireParameters({ ...read, objective: 'sft' })).not.toHaveProperty('desirable_weight');
  expect(learningRateAdvice(0.0001, 'kto')).toBeNull();
  expect(learningRateAdvice(0.002, 'kto')).toContain('With KTO this is much higher than usual');
});

it('sends rewards only with GRPO, with schemas parsed', () => {
  const draft = {
    ...blankReward,
    type: 'json_schema' as const,
    json_schema: '{"type": "object"}',
    weight: 2,
  };
  const read = { ...initialParameters, ...blankFormat('prompts'), input_column: 'q', rewards: [draft] };
  const sent = wireParameters(read);
  const rewards = [{ type: 'json_schema' as const, json_schema: { type: 'object' }, weight: 2 }];
  expect(sent).toMatchObject({ objective: 'grpo', generations: 8, max_new_tokens: 128, rewards });
  expect(sent).not.toHaveProperty('output_column');
  expect(sent).not.toHaveProperty('packing');
  expect(wireParameters({ ...read, objective: 'sft' })).not.toHaveProperty('rewards');
  const again = { ...draft, json_schema: JSON.stringify({ type: 'object' }, null, 2) };
  expect(rewards.map(toDraft)).toEqual([again]);
});

it.each([{ reference: 'rye' }, {}])(
  "converts a text check against a typed text or the row's reference",
  (text) => {
    const check = { type: 'string_check' as const, operation: 'like' as const, ...text, weight: 1 };
    expect(toReward(toDraft(check))).toEqual(check);
  },
);

it('opens an advanced panel with custom values', () => {
  expect(differsFromDefaults(initialParameters, 'lora')).toBe(false);
  expect(differsFromDefaults({ ...initialParameters, lora_target_modules: ['q_proj'] }, 'lora')).toBe(true);
  expect(differsFromDefaults({ ...initialParameters, stride: 10 }, 'segmentation')).toBe(true);
  expect(differsFromDefaults({ ...initialParameters, packing: true }, 'segmentation')).toBe(true);
});

it('DoRA requires a plain adapter: QLoRA sends the other adapter settings', () => {
  const namesOf = (adaptation: 'lora' | 'qlora') =>
    Object.keys(wireParameters({ ...initialParameters, adaptation, use_dora: true }));
  expect(namesOf('lora')).toContain('use_dora');
  expect(namesOf('lora').filter((name) => name !== 'use_dora')).toEqual(namesOf('qlora'));
  expect(namesOf('qlora')).toContain('lora_target_modules');
});

it('a full fine-tune sends no adapter settings, and its rate has other limits', () => {
  const full = { ...initialParameters, adaptation: 'full' as const };
  const names = Object.keys(wireParameters(full));
  expect(names).toContain('adaptation');
  expect(names.filter((name) => /lora|dora/.test(name))).toEqual([]);
  expect(Object.keys(wireParameters(initialParameters)).filter((name) => name.includes('lora'))).toHaveLength(
    4,
  );
  expect(learningRateAdvice(0.00005, 'sft', 'full')).toBeNull();
  expect(learningRateAdvice(0.001, 'sft', 'full')).toContain('Try 0.00002');
  expect(learningRateAdvice(0.0002, 'dpo', 'full')).toContain('Try 0.000001');
});
