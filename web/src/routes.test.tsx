import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { act, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from './lib/api/query-client.ts';
import { sessionQuery } from './modules/accounts/session.ts';
import { sessionHint } from './modules/accounts/session-hint.ts';

vi.mock('./lib/api/api-client.ts', () => ({ call: () => new Promise(() => {}) }));
vi.mock('./modules/accounts/sign-in/auth-request.ts', () => ({ authRequest: () => new Promise(() => {}) }));

test('a URL that cannot be decoded shows the not found page inside the shell', async () => {
  history.replaceState(null, '', '/runs/%zz');
  queryClient.setQueryData(sessionQuery.queryKey, null);
  // The router reads the URL when created.
  const { router } = await import('./routes.tsx');
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  expect(await screen.findByRole('heading', { name: 'Page not found' })).toBeTruthy();
  expect(screen.getByRole('banner')).toBeTruthy();
});

test('a failed sign-in with a provider shows the reason, even if a session was expected', async () => {
  queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
  sessionHint.set('expected');
  const { router } = await import('./routes.tsx');
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  // Suspended content only resumes inside an awaited `act`.
  await act(async () => router.history.push('/?error=access_denied'));
  expect(await screen.findByText('You were not signed in')).toBeTruthy();
  expect(screen.getByText('You did not grant access.')).toBeTruthy();
  expect(sessionHint.get()).toBe('none');
});
