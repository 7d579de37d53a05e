import { expect, test } from 'vitest';
import { promptHelp, promptPlaceholder } from './starter-prompt.ts';

const starterHelp = (prompt: string) => promptHelp(prompt, { edits: false, isStarter: true });

test('counts the words of a prompt once it may be too long', () => {
  expect(starterHelp('')).toBe('Keep it short: about 20 words.');
  expect(starterHelp(` ${'bread '.repeat(20)}`)).toBe('Keep it short: about 20 words.');
  expect(starterHelp('bread\n'.repeat(2700))).toBe('Keep it short: about 20 words. Yours has 2,700.');
});

test("the line below an editor's prompt is always present", () => {
  expect(promptHelp('', { edits: true, isStarter: false })).toBe('Describe the change in one sentence.');
  expect(promptHelp('', { edits: false, isStarter: false })).toBeUndefined();
});

test('an empty prompt suggests what its model can do', () => {
  const image = { makes: 'image', edits: false } as const;
  expect(promptPlaceholder({ ...image, isStarter: false })).toBeUndefined();
  expect(promptPlaceholder({ ...image, isStarter: true })).toBe('A red apple on grass');
  expect(promptPlaceholder({ ...image, makes: 'video', isStarter: true })).toBe('A red apple moves up');
  expect(promptPlaceholder({ ...image, edits: true, isStarter: false })).toBe('What should be different?');
  expect(promptPlaceholder({ ...image, edits: true, isStarter: true })).toContain('make it blue');
});
