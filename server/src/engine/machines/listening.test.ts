import { expect, test } from 'vitest';
import { unbroken } from './uptime.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const span = (since: number, until: number) => ({ since: at(since), until: at(until) });

test('listening is unbroken as long as one process after another says so', () => {
  expect(unbroken([])).toBeNull();
  expect(unbroken([span(0, 100)])).toEqual(span(0, 100));
  expect(unbroken([span(90, 300), span(0, 100)])).toEqual(span(0, 300));
  // One that follows within the time between two beats.
  expect(unbroken([span(0, 100), span(106, 300)])).toEqual(span(0, 300));
  expect(unbroken([span(0, 100), span(107, 300)])).toEqual(span(107, 300));
  // A process that begins anew does not break what another one has listened.
  expect(unbroken([span(200, 300), span(0, 299)])).toEqual(span(0, 300));
});
