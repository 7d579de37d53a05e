import type { DataReading } from '@bakehouse/contract/fine-tuning';
import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { ScanNotice } from './scan-notice.tsx';

const reading: DataReading = {
  reading_id: 'r',
  dataset_id: 'd',
  file_name: 'rows.csv',
  state: 'reading',
  rows_read: 120_000,
  progress: 12,
  reason: null,
  created_at: '2026-01-01T00:00:00.000Z',
  ended_at: null,
};

it('shows that figures are estimates, and the scan progress', () => {
  render(<ScanNotice reading={reading} />);
  expect(screen.getByText('An estimate from the first rows')).toBeTruthy();
  expect(screen.getByText('120,000 rows read')).toBeTruthy();
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('12');
});

it('shows why the rest was not counted', () => {
  render(<ScanNotice reading={{ ...reading, state: 'failed', reason: 'No memory.' }} />);
  expect(screen.getByText(/No memory. The figures below are an estimate/)).toBeTruthy();
});
