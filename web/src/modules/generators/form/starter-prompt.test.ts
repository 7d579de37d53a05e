import { expect, test } from 'vitest';
import { promptPlaceholder, shortPromptHelp } from './starter-prompt.ts';

test('the words of a prompt are counted once they may be too many', () => {
  expect(shortPromptHelp('')).toBe('Keep it short: about 20 words.');
  expect(shortPromptHelp(` ${'bread '.repeat(20)}`)).toBe('Keep it short: about 20 words.');
  expect(shortPromptHelp('bread\n'.repeat(27))).toBe(
    'Keep it short: about 20 words. Yours has 27, which may be too many.',
  );
});

test('an empty prompt suggests what its model can do', () => {
  expect(promptPlaceholder({ edits: false, isStarter: false })).toBeUndefined();
  expect(promptPlaceholder({ edits: false, isStarter: true })).toBe('A red apple on grass');
  expect(promptPlaceholder({ edits: true, isStarter: false })).toBe('What should be different?');
  expect(promptPlaceholder({ edits: true, isStarter: true })).toContain('make it blue');
});
