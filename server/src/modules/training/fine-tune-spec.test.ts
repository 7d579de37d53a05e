import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import { expect, test } from 'vitest';
import { type FineTuneFields, toDataSpec, withFormat } from './fine-tune-spec.ts';

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

test('a run reads without a system prompt where its validation was asked for none', () => {
  const read = { format: 'alpaca', input_column: '', output_column: '', system_column: null } as const;
  expect(withFormat({ ...fields, system_column: '' }, read).system_column).toBe('');
  expect(withFormat(fields, { ...read, system_column: 'system' }).system_column).toBe('system');
});
