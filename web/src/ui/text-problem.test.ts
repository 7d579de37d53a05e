import { expect, test } from 'vitest';
import { nameProblem } from './text-problem.ts';

test.each([
  ['', 'Name is required'],
  ['  ', 'Name is required'],
  ['Rye', undefined],
  [` ${'r'.repeat(100)} `, undefined],
  ['r'.repeat(101), 'Name must have at most 100 characters'],
])('%j', (name, problem) => {
  expect(nameProblem(name, 100)).toBe(problem);
});
