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
    ['msg', { msg: 'n' }, 'n'],
    ['message before msg', { message: 'm', msg: 'n' }, 'm'],
    ['a plain body', 'plain', 'plain'],
    ['blank texts are skipped', { error: { message: ' ' }, message: 'm' }, 'm'],
    ["the error's own message", { other: 1 }, 'own message'],
  ])('%s', (_name, body, text) => {
    expect(errorText(body, thrown, 'save the changes')).toBe(text);
  });

  test('names the operation if nothing else is known', () => {
    expect(errorText(null, undefined, 'deploy model')).toBe('Failed to deploy model');
    expect(errorText({ detail: [] }, {}, 'save')).toBe('Failed to save');
  });

  test('creating a model prefers msg, then detail, then error', () => {
    const text = (body: object) => errorText(body, thrown, 'create model');
    expect(text({ msg: 'n', detail: 'd', error: { message: 'a' } })).toBe('n');
    expect(text({ detail: [{ msg: 'f' }], error: 'b' })).toBe('f');
    expect(text({ error: { message: 'a' } })).toBe('a');
    expect(errorText('plain', thrown, 'create model')).toBe('plain');
    expect(errorText({}, undefined, 'create model')).toBe('Failed to create model');
  });

  test('deployments and validation prefer detail over error', () => {
    for (const operation of ['deploy model', 'fetch deployments', 'terminate deployment']) {
      expect(errorText({ error: 'b', detail: { msg: 'e' } }, thrown, operation)).toBe('e');
      expect(errorText({}, undefined, operation)).toBe(`Failed to ${operation}`);
    }
    expect(errorText({ error: 'b', detail: 'd' }, thrown, 'validate parameters')).toBe('d');
  });
});
