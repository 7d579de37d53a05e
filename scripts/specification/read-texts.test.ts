import { expect, test } from 'vitest';
import { readTexts } from './read-texts.ts';

const textsOf = (source: string) => [...readTexts('page.tsx', source)];

test('strings, templates and sums are whole texts', () => {
  expect(textsOf("const a = 'Transfer Failed';")).toEqual(['Transfer Failed']);
  expect(textsOf('const b = `Request timeout after ${ms}ms`;')).toEqual(['Request timeout after {}ms']);
  expect(textsOf("const c = 'The first half, ' + 'the second.';")).toContain('The first half, the second.');
});

test('the content of an element is one text, across lines and placeholders', () => {
  const texts = textsOf('const d = <p>You don&apos;t have\n  {count} <b>messages</b></p>;');
  expect(texts).toContain("You don't have {} messages");
  expect(texts).toContain('messages');
});

test('ignores comments and types', () => {
  expect(textsOf("/* Transfer Failed */ type A = 'Transfer Failed'; // 'Transfer Failed'")).toEqual([]);
});
