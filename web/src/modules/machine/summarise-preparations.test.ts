import type { Machine } from '@bakehouse/contract/machine';
import { expect, test } from 'vitest';
import { summarisePreparations } from './summarise-preparations.ts';

type Preparation = Machine['preparations'][number];

const serving: Preparation = {
  id: 'serving',
  label: 'Text serving',
  state: 'running',
  detail: '',
  progress: 0.456,
};
const training: Preparation = {
  id: 'training',
  label: 'Fine-tuning',
  state: 'waiting',
  detail: '',
  progress: null,
};

test('names what is running, how far it is and how much follows', () => {
  expect(summarisePreparations([training, serving])?.text).toBe('Text serving 45%, then 1 more');
  expect(summarisePreparations([{ ...serving, progress: null }])?.text).toBe('Text serving');
  expect(summarisePreparations([training])?.text).toBe('Fine-tuning');
});

test('a failure comes before all else', () => {
  expect(summarisePreparations([serving, { ...training, state: 'failed' }])).toMatchObject({
    failed: true,
    text: 'Fine-tuning',
  });
});

test('says nothing when all is ready', () => {
  expect(summarisePreparations([])).toBeNull();
});
