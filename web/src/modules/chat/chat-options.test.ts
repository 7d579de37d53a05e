import { expect, it } from 'vitest';
import { optionProblems } from './chat-options.tsx';

it.each([
  [{ temperature: 0, max_tokens: 1 }, []],
  [{ temperature: 2, max_tokens: 4096 }, []],
  [{ temperature: 1, max_tokens: 64, top_p: 0.9, seed: 0 }, []],
  [{ temperature: 1, max_tokens: 64, top_p: 0, seed: 1.5 }, ['top_p', 'seed']],
  [{ temperature: 2.1, max_tokens: 99_999 }, ['temperature', 'max_tokens']],
  [{ temperature: Number.NaN, max_tokens: 1.5 }, ['temperature', 'max_tokens']],
])('%j', (options, fields) => {
  expect(Object.keys(optionProblems(options, 4096))).toEqual(fields);
});
