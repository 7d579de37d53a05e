import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from './lib/api/query-client.ts';
import { sessionQuery } from './modules/accounts/session.ts';
import { sessionHint } from './modules/accounts/session-hint.ts';

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

test('who comes back from a provider that let nobody in reads why, though somebody was expected', async () => {
  queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
  sessionHint.set('expected');
  const { router } = await import('./routes.tsx');
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  // What suspends goes on only inside of an `act` that is awaited.
  await act(async () => router.history.push('/?error=access_denied'));
  expect(await screen.findByText('You were not signed in')).toBeTruthy();
  expect(screen.getByText('You did not grant access.')).toBeTruthy();
  expect(sessionHint.get()).toBe('none');
});
