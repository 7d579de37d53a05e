import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { keepKeys, takeKeys } from './commands.ts';

test('buffers keys until they are taken, and the page receives none', async () => {
  document.body.innerHTML = '<input /><button>Pay</button>';
  const [input, button] = [document.querySelector('input'), document.querySelector('button')];
  let pressed = 0;
  button?.addEventListener('click', () => (pressed += 1));

  keepKeys('', () => {});
  input?.focus();
  await userEvent.keyboard('fluy{Backspace}x');
  button?.focus();
  await userEvent.keyboard(' 1{Enter}');
  expect(takeKeys()).toEqual({ typed: 'flux 1', entered: true });
  expect([input?.value, pressed]).toEqual(['', 0]);

  input?.focus();
  await userEvent.keyboard('page');
  expect(input?.value).toBe('page');
  expect(takeKeys()).toEqual({ typed: '', entered: false });
});

test('starts with the given text, and ignores shortcuts', async () => {
  let shortcuts = 0;
  const count = (event: KeyboardEvent) => (shortcuts += Number(event.ctrlKey && event.key === 'k'));
  addEventListener('keydown', count);
  keepKeys('pa', () => {});
  await userEvent.keyboard('r{Control>}k{/Control}is');
  removeEventListener('keydown', count);
  expect(shortcuts).toBe(1);
  expect(takeKeys().typed).toBe('paris');
});

test('Enter counts only if nothing is typed after it', async () => {
  keepKeys('', () => {});
  await userEvent.keyboard('flu{Enter}x');
  expect(takeKeys()).toEqual({ typed: 'flux', entered: false });
});

test('Escape cancels', async () => {
  let calledOff = 0;
  keepKeys('', () => (calledOff += 1));
  await userEvent.keyboard('flu{Escape}');
  expect(calledOff).toBe(1);
  takeKeys();
  await userEvent.keyboard('{Escape}');
  expect(calledOff).toBe(1);
});
