import { expect, test } from 'vitest';
import { spendDays } from './spend.ts';

const now = new Date('2026-11-20T23:30:00Z');
const timeZone = 'UTC';

test.each([
  [{ timeZone }, '2026-10-22', '2026-11-20'],
  [{ timeZone: 'Europe/Berlin' }, '2026-10-23', '2026-11-21'],
  [{ timeZone, to: '2024-03-30' }, '2024-03-01', '2024-03-30'],
  [{ timeZone, from: '2025-11-20' }, '2025-11-20', '2026-11-20'],
  // A leap year.
  [{ timeZone, from: '2024-01-01', to: '2024-12-31' }, '2024-01-01', '2024-12-31'],
  [{ timeZone, to: '0001-01-02' }, '0001-01-01', '0001-01-02'],
])('%j', (asked, from, to) => {
  expect(spendDays(asked, now)).toEqual({ from, to });
});

test.each([
  { from: '2025-11-19' },
  { from: '2024-01-01', to: '2025-01-01' },
  { from: '2000-01-01', to: '2099-01-01' },
])('rejects %j by its field', (asked) => {
  expect(() => spendDays({ timeZone, ...asked }, now)).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'from' }),
  );
});
