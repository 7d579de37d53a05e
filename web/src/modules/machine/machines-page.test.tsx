import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { machinesQuery } from './api.ts';
import { MachinesPage } from './machines-page.tsx';

const user = vi.hoisted(() => ({ is_operator: true }));
vi.mock('../accounts/api.ts', () => ({ useUser: () => user }));
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

it('shows operators which machines are there, and nobody else', () => {
  queryClient.setQueryData(machinesQuery.queryKey, {
    machines: [
      {
        ...{ ...base, machine_id: 'a', name: 'oven', holds_files: true, is_present: true },
        last_seen_at: '2026-01-01T00:00:00Z',
        offer: {
          ...{ run_slots: 1, deployment_slots: 4, accelerators: [] },
          cpu: { cores: 8, memory_bytes: 2 ** 34 },
        },
      },
      {
        ...{ ...base, machine_id: 'b', name: 'second oven', holds_files: false, is_present: false },
        ...{ last_seen_at: null, offer: null, trouble: 'Nothing can be started on this machine.' },
      },
    ],
  });
  const { rerender } = render(page());
  expect(screen.getByText('oven').closest('tr')?.textContent).toMatch(
    /stores the files.*8 cores, 16 GB of memory.*Now$/,
  );
  // A phone has no column for it: it stands below the name.
  expect(screen.getByText('oven').closest('td')?.textContent).toMatch(/8 cores, 16 GB of memory.*Started/);
  expect(screen.getByText('second oven').closest('tr')?.textContent).toMatch(
    /Nothing can be started.*Nothing yet.*Not yet$/,
  );
  user.is_operator = false;
  rerender(page());
  expect(screen.queryByText('oven')).toBeNull();
  expect(screen.getByText('Only operators can see the machines')).toBeTruthy();
});
