import { randomUUID } from 'node:crypto';
import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import { fineTunePayload } from '@bakehouse/contract/training';
import { expect, test } from 'vitest';
import { type FineTuneFields, toDataSpec, toParameters, withFormat } from './fine-tune-spec.ts';

const fields: FineTuneFields = {
  ...fineTuneDefaults,
  lora_target_modules: ['q_proj'],
  file_name: 'rows.csv',
  input_column: 'q',
  output_column: 'a',
};

test('a run keeps the day of its request, however long it goes on', () => {
  expect(toDataSpec(fields, new Date('2026-11-20T23:59:59Z'))).toMatchObject({
    file_path: 'rows.csv',
    input_column: 'q',
    date: '2026-11-20',
  });
});

test('a run has the seed and the alpha that it asks for, else those that are usual', () => {
  const now = new Date();
  expect(toDataSpec(fields, now).seed).toBe(42);
  expect(toDataSpec({ ...fields, seed: 0 }, now).seed).toBe(0);
  expect(toParameters({ ...fields, lora_r: 16 }).lora.alpha).toBe(32);
  expect(toParameters({ ...fields, lora_r: 16, lora_alpha: 0.5 }).lora).toMatchObject({ r: 16, alpha: 0.5 });
});

test.each([{ seed: -1 }, { seed: 1.5 }, { seed: 2 ** 31 }, { lora_alpha: 0 }, { lora_alpha: 1025 }])(
  '%j is refused',
  (field) => {
    const payload = {
      user_id: 'ada',
      asset_id: randomUUID(),
      base_model: randomUUID(),
      model_name: 'Mine',
      file_name: 'rows.csv',
    };
    expect(fineTunePayload.safeParse(payload).error?.issues).toBeUndefined();
    expect(fineTunePayload.safeParse({ ...payload, ...field }).error?.issues).toMatchObject([
      { path: Object.keys(field) },
    ]);
  },
);

test('a run reads without a system prompt where its validation was asked for none', () => {
  const read = { format: 'alpaca', input_column: '', output_column: '', system_column: null } as const;
  expect(withFormat({ ...fields, system_column: '' }, read).system_column).toBe('');
  expect(withFormat(fields, { ...read, system_column: 'system' }).system_column).toBe('system');
});
