import { expect, it } from 'vitest';
import { priceNote, replicasNote } from './replicas-note.ts';

it('says how many replicas there are, and that each has the price, where there may be several', () => {
  expect(replicasNote({ replicas: 2, max_replicas: 4 })).toBe('2 of up to 4 replicas');
  expect(priceNote({ max_replicas: 4 })).toBe('for each replica');
  expect(replicasNote({ replicas: 1, max_replicas: 1 })).toBeUndefined();
  expect(priceNote({ max_replicas: 1 })).toBe('while it is awake');
});
