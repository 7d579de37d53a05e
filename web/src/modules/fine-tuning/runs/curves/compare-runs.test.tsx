import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { runsColumns } from '../runs-columns.tsx';
import { CompareRuns } from './compare-runs.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));
vi.mock('../../../../ui/chart.tsx', () => ({
  Chart: ({ label, series }: { label: string; series: { label: string }[] }) => (
    <p>{`${label}: ${series.map((one) => one.label).join(', ')}`}</p>
  ),
}));
vi.mock('../describe-parameters.ts', () => ({
  describeParameters: ({ run_id }: { run_id: string }) => [{ name: 'Seed', value: run_id }],
}));

const onClose = vi.fn<() => void>();
const points = [{ step: 1, at: '2026-11-01T10:00:00.000Z', values: { loss: 2 } }];
/** The server's response per run: pending, failed or complete. */
let answers: Record<string, 'never' | 'broken' | 'there'>;

function show(runIds: string[]) {
  render(
    <QueryClientProvider client={queryClient}>
      <CompareRuns runIds={runIds} isFull={false} onClose={onClose} />
    </QueryClientProvider>,
  );
}

beforeEach(() => {
  cleanup();
  queryClient.clear();
  queryClient.setDefaultOptions({ queries: { retry: false } });
  onClose.mockReset();
  vi.mocked(call)
    .mockReset()
    .mockImplementation((endpoint, request) => {
      const { runId } = (request as { params: { runId: string } }).params;
      if (answers[runId] === 'never') return new Promise(() => undefined);
      if (answers[runId] === 'broken') return Promise.reject(new Error('It broke'));
      return Promise.resolve(
        endpoint.path.endsWith('/metrics') ? { points } : { run_id: runId, title: `Run ${runId}` },
      );
    });
});

test('shows that it is loading, and can be closed', async () => {
  answers = { a: 'never' };
  show(['a']);
  expect(screen.getByRole('status', { name: 'Loading' })).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Close' }));
  expect(onClose).toHaveBeenCalledOnce();
});

test('a run that fails to load leaves the others visible, and can be retried', async () => {
  answers = { a: 'there', b: 'broken' };
  show(['a', 'b']);
  expect(await screen.findByText('1 run could not be loaded')).toBeTruthy();
  expect(screen.getByText('It broke')).toBeTruthy();
  expect(screen.getByText('Training loss of the selected runs: Run a')).toBeTruthy();
  answers.b = 'there';
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('Training loss of the selected runs: Run a, Run b')).toBeTruthy();
  expect(screen.queryByText('1 run could not be loaded')).toBeNull();
});

test('if no run loads, shows one error and retries all', async () => {
  answers = { a: 'broken', b: 'broken' };
  show(['a', 'b']);
  expect(await screen.findByText('The runs could not be loaded')).toBeTruthy();
  expect(screen.queryByText('2 runs could not be loaded')).toBeNull();
  answers = { a: 'there', b: 'there' };
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('Training loss of the selected runs: Run a, Run b')).toBeTruthy();
});

test('curves that fail to refresh stay visible with their age', async () => {
  answers = { a: 'there' };
  show(['a']);
  await screen.findByText('Training loss of the selected runs: Run a');
  answers.a = 'broken';
  await act(() => queryClient.refetchQueries());
  expect(await screen.findByText(/^Last updated .* Refreshing failed: It broke$/)).toBeTruthy();
  expect(screen.getByText('Training loss of the selected runs: Run a')).toBeTruthy();
});

test('runs with the same title are distinguishable in legends and table', async () => {
  vi.mocked(call).mockImplementation((endpoint, request) => {
    const { runId } = (request as { params: { runId: string } }).params;
    const created_at = new Date(2026, 10, 20, 6, runId === 'a' ? 5 : 7).toISOString();
    return Promise.resolve(
      endpoint.path.endsWith('/metrics') ? { points } : { run_id: runId, title: 'Rye', created_at },
    );
  });
  show(['a', 'b']);
  const names = ['Rye (20 Nov 2026, 06:05)', 'Rye (20 Nov 2026, 06:07)'];
  expect(await screen.findByText(`Training loss of the selected runs: ${names.join(', ')}`)).toBeTruthy();
  expect(screen.getAllByRole('columnheader').map(({ textContent }) => textContent)).toEqual([
    'Parameter',
    ...names,
  ]);
});

test('at the limit, no further run can be selected, also on phones, and none is dropped', async () => {
  const toggle = vi.fn<(runId: string, checked: boolean) => void>();
  const [column] = runsColumns({ ids: ['a'], isFull: true, toggle });
  expect(column).not.toHaveProperty('hideBelow');
  expect(column).toHaveProperty('control', true);
  render(
    <>
      {column?.cell({ run_id: 'a', title: 'Rye' } as never)}
      {column?.cell({ run_id: 'b', title: 'Spelt' } as never)}
    </>,
  );
  await userEvent.click(screen.getByRole('checkbox', { name: 'Compare Spelt' }));
  expect(toggle).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('checkbox', { name: 'Compare Rye' }));
  expect(toggle).toHaveBeenCalledWith('a', false);
});
