import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { UserContext } from '../../accounts/session.ts';
import { AccessRequestsPage } from '../../assets/restricted/access-requests-page.tsx';
import { LedgerPage } from './ledger-page.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

test.each([
  ['the ledger', LedgerPage],
  ['the access requests', AccessRequestsPage],
])('%s is for operators alone, and nothing is asked for', (what, Page) => {
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'ada', is_operator: false } as never}>
        <Page />
      </UserContext>
    </QueryClientProvider>,
  );
  expect(screen.getByText(`Only operators can see ${what}`)).toBeTruthy();
  expect(call).not.toHaveBeenCalled();
});
