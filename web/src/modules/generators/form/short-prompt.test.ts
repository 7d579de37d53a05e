import { expect, test } from 'vitest';
import { shortPromptHelp } from './short-prompt.ts';

test('the words of a prompt are counted once they may be too many', () => {
  expect(shortPromptHelp('')).toBe('Keep it short: about 20 words.');
  expect(shortPromptHelp(` ${'bread '.repeat(20)}`)).toBe('Keep it short: about 20 words.');
  expect(shortPromptHelp('bread\n'.repeat(27))).toBe(
    'Keep it short: about 20 words. Yours has 27, which may be too many.',
  );
});
