import type { Run } from '@bakehouse/contract/runs';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { useRunMetrics } from './run-calls.ts';
import { RunProgress } from './run-progress.tsx';

vi.mock('./run-calls.ts', () => ({ useRunMetrics: vi.fn<typeof useRunMetrics>() }));
vi.mock('../../../ui/money.tsx', () => ({ Money: ({ bgl }: { bgl: string }) => bgl }));

const run = {
  kind: 'text',
  ...{ run_id: 'r1', state: 'running', phase: 'training', reason: '', progress: 50, restarts: 0 },
  ...{ step: 1, steps_total: 2, parameters: { epochs: 1 }, elapsed_seconds: 5, remaining_seconds: 5 },
  ...{ held: '1', cost_so_far: '0.5', quote: { total: '1' } },
} as Run;

test.each([
  [0.9, '1 token a second'],
  [1_200.4, '1,200 tokens a second'],
])('a speed of %d is shown as %s', (speed, text) => {
  const points = [{ step: 1, values: { tokens_per_second: speed } }];
  vi.mocked(useRunMetrics).mockReturnValue({ data: { points } } as never);
  render(<RunProgress run={run} />);
  expect(screen.getByText(text)).toBeTruthy();
});

test('a queued run shows what it waits for, without figures', () => {
  const reason = 'Waiting for the CPU, next in line.';
  render(<RunProgress run={{ ...run, state: 'queued', reason, step: 0, progress: 0 }} />);
  expect(screen.getByText(reason)).toBeTruthy();
  expect(screen.getByText(/a notification tells you when it ends/)).toBeTruthy();
  expect(screen.queryByText('Epoch')).toBeNull();
});
