import { expect, test } from 'vitest';
import { fineTuneNumbers } from '../fine-tune-numbers.ts';
import { fineTunePayload } from '../training.ts';
import { type NumberField, numberProblem } from './number-field.ts';

test('the form and the server say the same of every number', () => {
  for (const [name, field] of Object.entries<NumberField>(fineTuneNumbers)) {
    const schema = fineTunePayload.shape[name as keyof typeof fineTuneNumbers];
    for (const value of [field.min - 1, field.min, field.default, field.max, field.max + 1]) {
      const said = schema.safeParse(value).error?.issues[0]?.message;
      expect(said, `${name} ${value}`).toBe(numberProblem(field, value));
    }
    expect(schema.parse(undefined)).toBe(field.default);
  }
});

test('a number that is not there is too small; parts fit where they make sense', () => {
  expect(numberProblem(fineTuneNumbers.epochs, Number.NaN)).toBe('Epochs must be at least 1');
  expect(numberProblem(fineTuneNumbers.epochs, 2.5)).toBe('Epochs must be a whole number');
  expect(numberProblem(fineTuneNumbers.learning_rate, 0)).toBe('Learning rate must be greater than 0');
  expect(numberProblem(fineTuneNumbers.lora_dropout, 0.25)).toBeUndefined();
});
