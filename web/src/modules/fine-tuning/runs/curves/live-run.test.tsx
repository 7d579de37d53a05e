import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../../../lib/api/credentials.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { runMetricsQuery } from '../run-calls.ts';
import { LiveRun } from './live-run.tsx';

vi.mock('@tanstack/react-router', () => ({
  Link: ({ children }: { children: string }) => <a href="/runs">{children}</a>,
}));
vi.mock('../../../../ui/chart.tsx', () => ({ Chart: ({ label }: { label: string }) => <p>{label}</p> }));

const run = {
  run_id: 'r1',
  title: 'Baker',
  base_model: { title: 'Starter' },
  state: 'running',
  phase: 'training',
  reason: '',
  progress: 40,
  step: 8,
  steps_total: 20,
  elapsed_seconds: 60,
  remaining_seconds: 90,
  started_at: null,
};

function show(points: object[], changed: object = {}) {
  queryClient.setQueryData(runMetricsQuery('r1').queryKey, { points } as never);
  render(
    <QueryClientProvider client={queryClient}>
      <LiveRun run={{ ...run, ...changed } as never} />
    </QueryClientProvider>,
  );
}
afterEach(cleanup);

test('a running run shows its progress, and its loss from the first step', () => {
  show([]);
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('40');
  expect(screen.getByText('Step 8 of 20')).toBeTruthy();
  expect(screen.getByText('The loss curve starts at the first step.')).toBeTruthy();
  cleanup();
  show([{ step: 1, values: { loss: 2 } }]);
  expect(screen.getByText('Training loss by step')).toBeTruthy();
});

test('a long run that is being watched keeps all its points', async () => {
  const at = '2026-11-20T08:00:00.000Z';
  const pointsFrom = (first: number, end: number) =>
    Array.from({ length: end - first }, (_, place) => ({ step: first + place, at, values: { loss: 2 } }));
  setCredentials({ userId: 'u1', apiKey: 'bh_test' });
  const { queryKey } = runMetricsQuery('r1');
  queryClient.setQueryData(queryKey, { points: pointsFrom(0, 60_000) });
  vi.stubGlobal('fetch', async () => Response.json({ points: pointsFrom(59_990, 60_050) }));
  await queryClient.fetchQuery({ ...runMetricsQuery('r1'), staleTime: 0 });
  expect(queryClient.getQueryData(queryKey)?.points).toHaveLength(60_050);
  vi.unstubAllGlobals();
  setCredentials(null);
});

test('its time advances between reports', () => {
  vi.useFakeTimers();
  show([]);
  expect(screen.getByText(/^1 min so far/)).toBeTruthy();
  act(() => void vi.advanceTimersByTime(5_000));
  expect(screen.getByText(/^1 min 5 s so far/)).toBeTruthy();
  vi.useRealTimers();
});

test('a waiting run shows the reason', () => {
  show([], {
    state: 'queued',
    phase: null,
    progress: 0,
    step: 0,
    steps_total: 0,
    reason: 'Waiting for the CPU',
  });
  expect(screen.getByText('Waiting for the CPU')).toBeTruthy();
  expect(screen.getByRole('progressbar').getAttribute('aria-valuenow')).toBeNull();
});
