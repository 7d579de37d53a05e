import { expect, test } from 'vitest';
import { spendPeriod } from './spend-period.ts';

const today = '2026-11-20';

test.each([
  [{}, { from: '2026-10-22', days: 'Last 30 days: 22 Oct 2026 to 20 Nov 2026' }],
  [
    { to: '2026-03-30' },
    { from: '2026-03-01', to: '2026-03-30', days: 'Last 30 days: 1 Mar 2026 to 30 Mar 2026' },
  ],
  [{ from: today }, { from: today, to: today, days: '20 Nov 2026' }],
  // The limit is a year and a day; earlier days are not requested.
  [{ from: '2025-11-20' }, { from: '2025-11-20', to: today, days: '20 Nov 2025 to 20 Nov 2026' }],
  [
    { from: '2025-11-19' },
    { from: '2025-11-20', to: today, days: 'Last 366 days: 20 Nov 2025 to 20 Nov 2026' },
  ],
  [
    { from: '2000-01-01', to: '2024-12-31' },
    { from: '2024-01-01', to: '2024-12-31', days: 'Last 366 days: 1 Jan 2024 to 31 Dec 2024' },
  ],
])('%j', (period, shown) => {
  expect(spendPeriod(period, today)).toEqual(shown);
});
