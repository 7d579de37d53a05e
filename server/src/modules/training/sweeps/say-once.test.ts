import { expect, test } from 'vitest';
import { sayOnce } from './say-once.ts';

const slow = { combination: { learning_rate: 0.001, lora_r: 8 } };
const fast = { combination: { learning_rate: 0.01, lora_r: 8 } };

test('what is said of all runs stands as it is, what is said of some with their values', () => {
  const said = [
    { ...slow, message: 'No answer', about: null },
    { ...fast, message: 'No answer', about: null },
    { ...fast, message: 'Too high', about: 'learning_rate' },
  ];
  expect(sayOnce(said, 2)).toEqual([
    { message: 'No answer', about: null },
    { message: 'Learning rate 0.01, LoRA rank 8: Too high', about: 'learning_rate' },
  ]);
  expect(sayOnce(said.slice(0, 2), 3)).toEqual([
    { message: 'Learning rate 0.001, LoRA rank 8 (and 1 more): No answer', about: null },
  ]);
  expect(sayOnce([], 2)).toEqual([]);
});
