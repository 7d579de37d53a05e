import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { queryClient } from '../../lib/query-client.ts';
import { machineQuery } from './api.ts';
import { PreparationBanner } from './preparation-banner.tsx';

const online = vi.hoisted(() => ({ value: true }));
vi.mock('../../lib/online.ts', async (original) => ({
  ...(await original<typeof import('../../lib/online.ts')>()),
  useOnline: () => online.value,
}));

it('says what is being prepared, but not of a server that is away', () => {
  const preparations = [
    { id: 'starter', label: 'Starter model', state: 'running', progress: 0.5, detail: '' },
  ];
  queryClient.setQueryData(machineQuery.queryKey, { preparations } as never);
  const banner = () => (
    <QueryClientProvider client={queryClient}>
      <PreparationBanner />
    </QueryClientProvider>
  );
  const { rerender } = render(banner());
  expect(screen.getByText('Starter model 50%')).toBeTruthy();
  online.value = false;
  rerender(banner());
  expect(screen.queryByText('Starter model 50%')).toBeNull();
});
