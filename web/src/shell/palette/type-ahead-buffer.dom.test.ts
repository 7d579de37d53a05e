import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { bufferKeystrokes, releaseKeystrokes } from './type-ahead-buffer.ts';

test('buffers keys until they are taken, and the page receives none', async () => {
  document.body.innerHTML = '<input /><button>Pay</button>';
  const [input, button] = [document.querySelector('input'), document.querySelector('button')];
  let pressed = 0;
  button?.addEventListener('click', () => (pressed += 1));

  bufferKeystrokes('', () => {});
  input?.focus();
  await userEvent.keyboard('fluy{Backspace}x');
  button?.focus();
  await userEvent.keyboard(' 1{Enter}');
  expect(releaseKeystrokes()).toEqual({ typed: 'flux 1', entered: true });
  expect([input?.value, pressed]).toEqual(['', 0]);

  input?.focus();
  await userEvent.keyboard('page');
  expect(input?.value).toBe('page');
  expect(releaseKeystrokes()).toEqual({ typed: '', entered: false });
});

test('starts with the given text, and ignores shortcuts', async () => {
  let shortcuts = 0;
  const count = (event: KeyboardEvent) => (shortcuts += Number(event.ctrlKey && event.key === 'k'));
  addEventListener('keydown', count);
  bufferKeystrokes('pa', () => {});
  await userEvent.keyboard('r{Control>}k{/Control}is');
  removeEventListener('keydown', count);
  expect(shortcuts).toBe(1);
  expect(releaseKeystrokes().typed).toBe('paris');
});

test('Enter counts only if nothing is typed after it', async () => {
  bufferKeystrokes('', () => {});
  await userEvent.keyboard('flu{Enter}x');
  expect(releaseKeystrokes()).toEqual({ typed: 'flux', entered: false });
});

test('Escape cancels', async () => {
  let calledOff = 0;
  bufferKeystrokes('', () => (calledOff += 1));
  await userEvent.keyboard('flu{Escape}');
  expect(calledOff).toBe(1);
  releaseKeystrokes();
  await userEvent.keyboard('{Escape}');
  expect(calledOff).toBe(1);
});
