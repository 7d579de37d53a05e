import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { render, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';
import { currencyChoice } from '../../../../lib/format/currency.ts';
import { CostEstimate } from './cost-estimate.tsx';
import { DataSummary } from './data-summary.tsx';

afterEach(() => currencyChoice.set('USD'));

const data = {
  rows_kept: 12_000,
  rows_total: 12_345,
  rows_dropped: 345,
  rows_truncated: 0,
  steps_total: 2_400,
  train_tokens: 1_000_000,
  train_examples: 9_600,
  eval_examples: 2_400,
  packs: null,
  trainable_parameters: 4_000_000,
  memory_bytes: 1024,
  dropped: [],
  token_histogram: [],
  samples: [],
  format: null,
} as unknown as NonNullable<FineTuneValidation['data']>;

it('rows and examples have thousands separators, and are marked as estimates while scanning', () => {
  const { rerender } = render(<DataSummary data={data} fileName="x.csv" isEstimate />);
  expect(screen.getByText('Rows kept').closest('div')?.textContent).toBe('Rows kept12,000 of 12,345estimate');
  expect(screen.getByText('9,600 + 2,400 held out')).toBeTruthy();
  rerender(<DataSummary data={data} fileName="x.csv" isEstimate={false} />);
  expect(screen.queryByText('estimate')).toBeNull();
  rerender(<DataSummary data={{ ...data, packs: 1_200 }} fileName="x.csv" isEstimate={false} />);
  expect(screen.getByText('in 1,200 sequences')).toBeTruthy();
});

const cost = {
  quote: {
    total: '2.5',
    items: [
      { label: "Training on this machine's CPU", unit: 'hour', quantity: 1, amount: '2' },
      { label: 'Answers', unit: 'token', quantity: 5, amount: '0.5' },
    ],
  },
  duration_hours: 0.0667,
  ceiling: '3.75',
  slowdown: 1,
  load: null,
} as unknown as FineTuneValidation['cost_estimate'];
const showCost = () =>
  render(
    <CostEstimate
      validation={{ cost_estimate: cost }}
      ceiling=""
      ceilingProblem={undefined}
      onCeiling={() => undefined}
    />,
  );

it('shows the duration in hours and in words', () => {
  showCost();
  expect(screen.getByText(/2\.50 BGL · 0\.067 hours \(about 4 min\)/)).toBeTruthy();
  expect(screen.getByText(/· 1 hour$/)).toBeTruthy();
});

it('shows the cost in both currencies, whichever is selected', () => {
  currencyChoice.set('BGL');
  showCost();
  expect(screen.getByText(/^\$0\.10 · /)).toBeTruthy();
  expect(screen.getAllByText('2.50 BGL')).not.toHaveLength(0);
});
