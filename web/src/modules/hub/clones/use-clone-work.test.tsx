import { type Clone, cloneStatus } from '@bakehouse/contract/hub/clones';
import { getWork } from '@bakehouse/contract/work';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useCloneWork } from './use-clone-work.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const clone = {
  ...{ id: 'c1', repo_id: 'bakery/rye', dataset_type: 'MODEL', status: 'COPYING', reason: 'no' },
  ...{ bytes_total: null, bytes_done: 0, ended_at: null },
} as Clone;
const answers = { bytes_done: 0, status: 'COPYING' as Clone['status'], ended_at: null as string | null };
const asked: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    asked.push(endpoint);
    if (endpoint === getWork) return { clones: [{ ...clone, ...answers }] };
    if (endpoint === cloneStatus) return { ...clone, ...answers, files_copying_logs: [] };
    return clone;
  });
});
afterEach(() => {
  vi.useRealTimers();
  queryClient.clear();
});

function Shown() {
  return useCloneWork().map(({ id, title, end }) => (
    <p key={id}>
      {title} {end?.title}
    </p>
  ));
}

const countOf = (endpoint: unknown) => asked.filter((one) => one === endpoint).length;
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it('without events polls until the clone has ended', async () => {
  render(
    <QueryClientProvider client={queryClient}>
      <Shown />
    </QueryClientProvider>,
  );
  await pass(100);
  expect(screen.getByText('bakery/rye')).toBeTruthy();
  await pass(2_900);
  expect(countOf(cloneStatus)).toBe(0);
  await pass(4_000);
  expect(countOf(cloneStatus)).toBe(1);
  // Without progress the pauses grow to ten seconds.
  await pass(60_000);
  const still = countOf(cloneStatus);
  expect(still).toBeLessThan(10);
  Object.assign(answers, { status: 'FAILED', ended_at: '2026-01-01T00:00:00Z' });
  await pass(15_000);
  expect(screen.getByText('bakery/rye Error cloning the model')).toBeTruthy();
  const ended = countOf(cloneStatus);
  await pass(60_000);
  expect(countOf(cloneStatus)).toBe(ended);
});
