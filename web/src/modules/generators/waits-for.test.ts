import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import { isServed, waitsFor } from './waits-for.ts';

test('a page of own models is served by own models alone', () => {
  expect([isServed([], false), isServed(['upstream'], false), isServed(['own'], false)]).toEqual([
    false,
    true,
    true,
  ]);
  expect([isServed(['upstream'], true), isServed(['upstream', 'own'], true)]).toEqual([false, true]);
});

test('says what it waits for, and no price', () => {
  expect(waitsFor(generators.flux, false)).toBe(
    'FLUX.1 waits for an engine or a service that makes pictures: none is connected to this server yet.',
  );
  expect(waitsFor(generators.wan, true)).toBe(
    'Wan 2.2 waits for a model of this installation that makes films: none is served yet.',
  );
});
