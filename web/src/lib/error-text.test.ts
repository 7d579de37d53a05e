import { describe, expect, test } from 'vitest';
import { errorText } from './error-text.ts';

describe('errorText', () => {
  const thrown = new Error('own message');

  test.each([
    ['error.message before all', { error: { message: 'a' }, detail: 'd', message: 'm' }, 'a'],
    ['error as text', { error: 'b', detail: 'd' }, 'b'],
    ['detail.error.message', { detail: { error: { message: 'c' } }, message: 'm' }, 'c'],
    ['detail as text', { detail: 'd', message: 'm' }, 'd'],
    ['detail.msg', { detail: { msg: 'e' } }, 'e'],
    ["the first item of a list's msg", { detail: [{ msg: 'f' }, { msg: 'g' }] }, 'f'],
    ['message', { message: 'm' }, 'm'],
    ['a plain body', 'plain', 'plain'],
    ['blank texts are passed over', { error: { message: ' ' }, message: 'm' }, 'm'],
    ["the error's own message", { other: 1 }, 'own message'],
  ])('%s', (_name, body, text) => {
    expect(errorText(body, thrown, 'deploy model')).toBe(text);
  });

  test('names the operation when nothing else is known', () => {
    expect(errorText(null, undefined, 'deploy model')).toBe('Failed to deploy model');
    expect(errorText({ detail: [] }, {}, 'save')).toBe('Failed to save');
  });
});
