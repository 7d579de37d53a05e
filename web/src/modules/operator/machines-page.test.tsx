import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { machinesQuery, workQuery } from '../machines/machine-queries.ts';
import { MachinesPage } from './machines-page.tsx';

const user = vi.hoisted(() => ({ is_operator: true, id: 'olga' }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  Link: ({ to, children }: { to: string; children: string }) => <a href={to}>{children}</a>,
}));
vi.mock('../accounts/session.ts', () => ({ useUser: () => user }));
vi.mock('../../lib/api/api-client.ts', async (original) => ({
  ...(await original<typeof import('../../lib/api/api-client.ts')>()),
  call: () => new Promise(() => undefined),
}));

const page = () => (
  <QueryClientProvider client={queryClient}>
    <MachinesPage />
  </QueryClientProvider>
);
const base = { driver: 'local', trouble: null, started_at: '2026-01-01T00:00:00Z' };

beforeEach(() => {
  queryClient.clear();
  user.is_operator = true;
});

it('shows the machine and its cluster to operators only', () => {
  queryClient.setQueryData(machinesQuery.queryKey, {
    machines: [
      {
        ...{ ...base, machine_id: 'a', name: 'oven', is_present: true },
        last_seen_at: '2026-01-01T00:00:00Z',
        offer: {
          ...{ run_slots: 1, deployment_slots: 4, accelerators: [] },
          cpu: { cores: 8, memory_bytes: 2 ** 34 },
        },
      },
      {
        ...{ ...base, machine_id: 'b', name: 'bakery', driver: 'kubernetes', is_present: false },
        ...{ last_seen_at: null, offer: null, trouble: 'Nothing can be started on this machine.' },
      },
    ],
  });
  const { rerender } = render(page());
  expect(screen.getByText('oven').closest('tr')?.textContent).toMatch(
    /Driver local.*8 cores, 16 GB of memory.*Now$/,
  );
  // Narrow screens show it below the name instead of in a column.
  expect(screen.getByText('oven').closest('td')?.textContent).toMatch(/8 cores, 16 GB of memory.*Started/);
  expect(screen.getByText('bakery').closest('tr')?.textContent).toMatch(
    /Driver kubernetes.*Nothing can be started.*Not known yet.*Not yet$/,
  );
  user.is_operator = false;
  rerender(page());
  expect(screen.queryByText('oven')).toBeNull();
  expect(screen.getByText('Only operators can see the machines')).toBeTruthy();
});

const work = {
  ...{
    model_name: null,
    deployments: 0,
    pod_id: null,
    machine: 'oven',
    reason: '',
    position: null,
    gpus: null,
  },
  ...{ owner: { user_id: 'ada', username: 'ada-bakes' }, since: new Date().toISOString() },
};

it('shows running and queued tasks, and links to their owners and to the user’s own tasks', () => {
  queryClient.setQueryData(workQuery.queryKey, {
    pageParams: [null],
    pages: [
      {
        ...{ on_machines: 2, waiting: 1, next_cursor: null },
        work: [
          {
            ...work,
            ...{ work_id: 'a', kind: 'run', state: 'running' },
            owner: { user_id: 'olga', username: 'olga-o' },
          },
          {
            ...work,
            ...{ work_id: 'b', kind: 'image_model', model_name: 'paris', state: 'starting', owner: null },
          },
          {
            ...work,
            ...{ work_id: 'c', kind: 'run', state: 'queued', position: 2, machine: null },
            reason: 'Waiting for the CPU, number 2 in line.',
          },
        ],
      },
    ],
  });
  render(page());
  expect(screen.getByText('2 on machines, 1 in the queue')).toBeTruthy();
  const [, own, shared, waiting] = [...screen.getByRole('region', { name: 'Queue' }).querySelectorAll('tr')];
  expect(own?.textContent).toMatch(/^Training runolga-o.*oven1 CPU slotRunningJust now$/);
  expect(own?.querySelector('a')?.getAttribute('href')).toBe('/runs/$id');
  expect(shared?.textContent).toMatch(/^Picture model parisEveryone.*Starting/);
  expect(shared?.querySelector('a')).toBeNull();
  expect(waiting?.textContent).toMatch(/number 2 in line\.None yet1 CPU slotQueuedNumber 2, just now$/);
  expect([...(waiting?.querySelectorAll('a') ?? [])].map((link) => link.getAttribute('href'))).toEqual([
    '/operator/accounts',
  ]);
});

it('reports that nothing runs or waits', () => {
  queryClient.setQueryData(workQuery.queryKey, {
    pageParams: [null],
    pages: [{ on_machines: 0, waiting: 0, next_cursor: null, work: [] }],
  });
  render(page());
  expect(screen.getByText('Nothing is running or waiting')).toBeTruthy();
});
