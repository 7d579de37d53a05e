import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import { isServed, unavailableReason } from './unavailable-reason.ts';

test('a page of own models is served only by own models', () => {
  expect([isServed([], false), isServed(['upstream'], false), isServed(['own'], false)]).toEqual([
    false,
    true,
    true,
  ]);
  expect([isServed(['upstream'], true), isServed(['upstream', 'own'], true)]).toEqual([false, true]);
});

test('shows what is missing, without a price', () => {
  expect(unavailableReason(generators.flux, { ownOnly: false, isBeingPrepared: false })).toBe(
    'It needs a deployment, or a service that an operator connects.',
  );
  expect(unavailableReason(generators.wan, { ownOnly: true, isBeingPrepared: false })).toBe(
    'No suitable video model is deployed on this server.',
  );
});

test('a starter model in preparation is not shown as not connected', () => {
  expect(unavailableReason(generators.paris, { ownOnly: false, isBeingPrepared: true })).toBe(
    'The starter model for Paris is still being prepared. You can generate as soon as it is ready.',
  );
});

test('a model that was shut down has nothing to wait for', () => {
  expect(unavailableReason(generators.imagen, { ownOnly: false, isBeingPrepared: false })).toMatch(
    /^Google shut Imagen 4 down in 2026/,
  );
});
