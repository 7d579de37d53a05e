import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from './lib/api/query-client.ts';
import { sessionQuery } from './modules/accounts/session.ts';

vi.mock('./lib/api/api-client.ts', () => ({ call: () => new Promise(() => {}) }));
vi.mock('./modules/accounts/sign-in/auth-request.ts', () => ({ authRequest: () => new Promise(() => {}) }));

test('an address that cannot be decoded leads to the page that says so, with the shell around it', async () => {
  history.replaceState(null, '', '/runs/%zz');
  queryClient.setQueryData(sessionQuery.queryKey, null);
  // It reads the address as it is made.
  const { router } = await import('./routes.tsx');
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  expect(await screen.findByRole('heading', { name: 'Page not found' })).toBeTruthy();
  expect(screen.getByRole('banner')).toBeTruthy();
});
