import type { Run } from '@bakehouse/contract/runs';
import { expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { endOf, recentRunsQuery, sweepWork } from './use-run-work.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const cancelled = {
  kind: 'text',
  state: 'cancelled',
  title: 'Baker',
  reason: 'Cancelled.',
  stop_reason: null,
  charged: '5',
} as const;

it('tells a run that has reached its ceiling from one that its owner has cancelled', () => {
  expect(endOf(cancelled)).toEqual({
    kind: 'info',
    title: 'Training Baker was cancelled',
    description: 'You were charged $0.20.',
  });
  const reason = 'The run reached its ceiling of 5 BGL. The work was saved.';
  expect(endOf({ ...cancelled, reason, stop_reason: 'ceiling' })).toEqual({
    kind: 'warning',
    title: 'Training Baker stopped at its ceiling',
    description:
      'The run reached its ceiling of $0.20. The work was saved. You were charged $0.20. You can resume it with a higher ceiling.',
  });
});

it('calls an export one', () => {
  const exported = { ...cancelled, kind: 'export' } as const;
  expect(endOf(exported)?.title).toBe('Exporting Baker was cancelled');
  expect(endOf({ ...exported, state: 'completed' })?.title).toBe('Baker is ready');
});

it('says why a run failed, and what was charged as far as that is known', () => {
  const failed = { ...cancelled, state: 'failed', reason: 'Out of memory.' } as const;
  expect(endOf({ ...failed, charged: '0' })?.description).toBe('Out of memory. You were not charged.');
  expect(endOf({ ...failed, charged: null })?.description).toBe('Out of memory.');
});

it('shows the runs of a sweep as one, until the last of them has ended', () => {
  const swept = (...states: Run['state'][]) =>
    states.map((state) => ({ kind: 'text', state, sweep: { sweep_id: 's1', title: 'Loaves' } }) as Run);
  const cancel = vi.fn<(sweepId: string) => void>();
  const [work, ...others] = sweepWork(swept('completed', 'running', 'queued', 'queued'), cancel);
  expect(others).toEqual([]);
  expect(work).toMatchObject({
    id: 'sweep-s1',
    title: 'Loaves',
    phase: '1 run under way, 2 waiting',
    end: null,
  });
  work?.cancel?.run();
  expect(cancel).toHaveBeenCalledWith('s1');
  const [over] = sweepWork(swept('completed', 'failed'), cancel);
  expect(over).toMatchObject({ end: { kind: 'success', title: 'All runs of Loaves have ended' } });
  expect(over?.cancel).toBeUndefined();
  expect(sweepWork(swept('failed', 'cancelled'), cancel)[0]?.end?.kind).toBe('info');
});

it('knows all runs that are under way, however many pages they take', async () => {
  const page = (count: number, next_cursor: string | null) => ({
    runs: Array.from({ length: count }, (_, at) => ({ run_id: `${next_cursor} ${at}` })),
    next_cursor,
  });
  vi.mocked(call).mockResolvedValueOnce(page(100, 'r100')).mockResolvedValueOnce(page(1, null));
  expect((await queryClient.fetchQuery(recentRunsQuery)).runs).toHaveLength(101);
  expect(vi.mocked(call).mock.lastCall?.[1]).toMatchObject({ query: { recent: 'true', cursor: 'r100' } });
});
