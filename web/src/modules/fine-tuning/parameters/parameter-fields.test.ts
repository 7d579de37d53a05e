import { fineTuneNumbers } from '@bakehouse/contract/fine-tune-numbers';
import { objectives } from '@bakehouse/contract/limits';
import { expect, test } from 'vitest';
import { formatNumber } from '../../../lib/format/format-number.ts';
import {
  evaluationFields,
  loraFields,
  mainFields,
  objectiveFields,
  optimizerFields,
  segmentationFields,
} from './parameter-fields.tsx';

const fields = objectives
  .toReversed()
  .flatMap((objective) => [
    ...mainFields({ objective, adaptation: 'lora' }),
    ...objectiveFields(objective, null),
    ...optimizerFields(objective),
    ...segmentationFields(objective),
    ...evaluationFields,
    ...loraFields({ adaptation: 'lora' }),
  ]);
const helps = new Map(fields.map(({ name, help }) => [name, help]));

// The learning rate shows suggested values next to its range.
const { learning_rate, ...others } = fineTuneNumbers;

test.each(Object.entries(others))('%s shows its range', (name, { min, max }) => {
  expect(helps.get(name as keyof typeof others)).toMatch(
    new RegExp(`(${min} to|up to) ${formatNumber(max)}\\b`, 'i'),
  );
});
