import { expect, it } from 'vitest';
import { explain } from './environment.ts';
import { isNewEnough } from './python.ts';
import { ProgramFailed } from './run-program.ts';
import { readProgressLine } from './starter-model.ts';

it.each([
  ['3.11.7', true],
  ['3.14.0rc1', true],
  ['3.10.12', false],
  ['2.7.18', false],
  ['', false],
])('Python %s is new enough: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected);
});

it.each([
  ['error: failed to write: No space left on device (os error 28)', /^The disk of \/cache is full/],
  [
    'The virtual environment was not created successfully because ensurepip is not available.',
    /python3-venv/,
  ],
  ['error: Failed to fetch: `https://index.example/simple/`', /^The packages could not be downloaded/],
  ['warning: one\nerror: something new', /^The packages could not be made ready: error: something new$/],
])('explains %j', (output, sentence) => {
  expect(explain('The packages', new ProgramFailed('uv', 2, output.split('\n')), '/cache')).toMatch(sentence);
});

it("reads the runtime's progress and nothing else", () => {
  expect(readProgressLine('{"phase": "dequantising", "done": 68, "total": 272}')).toEqual({
    detail: 'Dequantising',
    progress: 0.25,
  });
  expect(readProgressLine('Loading weights')).toBeNull();
});
