import { expect, test } from 'vitest';
import { matching, oneOf, searchSchema, text, uuid } from './url-search.ts';

const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
const parse = searchSchema({
  search: text,
  sort: oneOf('title', 'size'),
  day: matching(/^\d{4}-\d{2}-\d{2}$/),
  key: uuid,
});

test('keeps valid parameters', () => {
  const valid = { search: 'rye', sort: 'size', day: '2026-11-30', key: id };
  expect(parse(valid)).toEqual(valid);
});

test('drops unknown, empty and invalid parameters', () => {
  expect(parse({ search: '', sort: 'age', day: 'today', key: `${id}0`, other: 1 })).toEqual({});
  expect(parse({ search: ['rye'], sort: null, day: 20261130 })).toEqual({});
  // The router would keep the raw value of a missing parameter.
  expect(Object.keys(parse({ sort: 'age' }))).toContain('sort');
});

test('reads digits, which the router parses as a number, as text', () => {
  expect(parse({ search: 500 })).toEqual({ search: '500' });
});
