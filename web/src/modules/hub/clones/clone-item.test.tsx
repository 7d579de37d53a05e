import type { Clone } from '@bakehouse/contract/hub/clones';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { CloneItem } from './clone-item.tsx';

vi.mock('./clone-log.tsx', () => ({ CloneLog: () => <p>The log</p> }));

test('shows the log when a displayed clone fails', () => {
  const clone = {
    ...{ id: 'c1', repo_id: 'org/base', dataset_type: 'MODEL', revision: '0123456789', reason: 'Gone' },
    ...{ created_at: '2026-01-01T00:00:00Z', progress: 0, bytes_total: null, asset_id: null },
  } as Clone;
  const item = (status: Clone['status']) => (
    <QueryClientProvider client={queryClient}>
      <CloneItem clone={{ ...clone, status }} />
    </QueryClientProvider>
  );
  const { rerender } = render(item('COPYING'));
  expect(screen.queryByText('The log')).toBeNull();
  rerender(item('FAILED'));
  expect(screen.getByText('The log')).toBeTruthy();
});
