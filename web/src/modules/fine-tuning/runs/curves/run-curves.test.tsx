import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { runMetricsQuery } from '../run-calls.ts';
import { RunCurves } from './run-curves.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => undefined) }));
vi.mock('../../../../ui/chart.tsx', () => ({
  Chart: ({ label, series }: { label: string; series: { label: string; exact?: boolean }[] }) => (
    <p>{`${label}: ${series.map((one) => one.label + (one.exact ? ' as measured' : '')).join(', ')}`}</p>
  ),
}));

function show(points: object[]) {
  queryClient.setQueryData(runMetricsQuery('r1').queryKey, { points } as never);
  render(
    <QueryClientProvider client={queryClient}>
      <RunCurves runId="r1" kind="text" ended />
    </QueryClientProvider>,
  );
}

test.each([
  [9, 'Held-out loss has risen since step 1'],
  [2, null],
])('advice about losses is shown for %s held-out rows', (held_out_rows, said) => {
  const at = '2026-11-28T08:00:00.000Z';
  show([
    { step: 0, at, values: { eval_loss: 3, held_out_rows } },
    { step: 1, at, values: { loss: 2, eval_loss: 1.5 } },
    { step: 2, at, values: { loss: 1, eval_loss: 1.8 } },
  ]);
  expect(screen.queryByText(/^Held-out loss has risen/)?.textContent ?? null).toBe(said);
  cleanup();
});

test('a run that learns preferences shows the margin of the better answers', () => {
  const at = '2026-11-28T08:00:00.000Z';
  show([
    { step: 1, at, values: { loss: 0.69, reward_accuracy: 0.5, reward_margin: 0 } },
    { step: 2, at, values: { eval_loss: 0.6, eval_reward_accuracy: 0.9, eval_reward_margin: 0.2 } },
  ]);
  const both = 'Training, Held out as measured';
  expect(screen.getByText(`Training and held-out loss by step: ${both}`)).toBeTruthy();
  expect(screen.getByText(`Share of rows in which the better answer leads, by step: ${both}`)).toBeTruthy();
  expect(screen.getByText(`Lead of the better answers by step: ${both}`)).toBeTruthy();
  cleanup();
  show([{ step: 1, at, values: { loss: 2 } }]);
  expect(screen.getByText('Training and held-out loss by step: Training')).toBeTruthy();
  expect(screen.queryByText('Reward margin')).toBeNull();
});

test('a run that learns from rewards shows the total and each of several rewards', () => {
  const at = '2026-11-28T08:00:00.000Z';
  const each = { 'reward/pattern_2': 0.5, 'reward/json_schema': 0.1 };
  show([
    { step: 1, at, values: { loss: 0, reward: 0.6, kl: 0.01, answer_tokens: 30, ...each } },
    { step: 2, at, values: { eval_reward: 0.7 } },
  ]);
  expect(screen.getByText('Mean reward of the answers by step: Training, Held out as measured')).toBeTruthy();
  expect(
    screen.getByText('Mean of each reward before its weight, by step: Pattern 2, JSON Schema'),
  ).toBeTruthy();
  expect(screen.getByText('KL divergence from the base model by step: Training')).toBeTruthy();
  cleanup();
  // KTO reports a divergence too, but has its own charts.
  show([{ step: 1, at, values: { loss: 1, kl: 0.1, reward_margin: 0, reward_accuracy: 0.5 } }]);
  expect(screen.queryByText('KL divergence')).toBeNull();
});
