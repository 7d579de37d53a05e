import { fineTuneDefaults } from '@bakehouse/contract/limits';
import { expect, test } from 'vitest';
import { toDataSpec } from './fine-tune-spec.ts';

test('a run keeps the day of its request, however long it goes on', () => {
  const fields = {
    ...fineTuneDefaults,
    lora_target_modules: ['q_proj' as const],
    file_name: 'rows.csv',
    input_column: 'q',
    output_column: 'a',
  };
  expect(toDataSpec(fields, new Date('2026-11-20T23:59:59Z'))).toMatchObject({
    file_path: 'rows.csv',
    input_column: 'q',
    date: '2026-11-20',
  });
});
