import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../lib/api/query-client.ts';
import { sessionQuery } from '../modules/accounts/session.ts';
import { AppShell } from './app-shell.tsx';

// Requests never complete: the test sets the session itself.
const { forever } = vi.hoisted(() => ({ forever: () => new Promise(() => {}) }));
vi.mock('../lib/api/api-client.ts', () => ({ call: forever }));
vi.mock('../modules/accounts/sign-in/auth-request.ts', () => ({ authRequest: forever }));
vi.mock('../lib/live/follow-changes.ts', () => ({ followChanges: forever }));

/** A page whose parts each take longer than one React time slice. */
const PARTS = 5;
const PART_MS = 20;
const happened: string[] = [];

function Part({ index }: { index: number }) {
  if (index === 0) setTimeout(() => happened.push('a touch is answered'));
  const start = performance.now();
  while (performance.now() - start < PART_MS);
  happened.push(`part ${index}`);
  return null;
}

function Page() {
  return (
    <>
      <h1>Dashboard</h1>
      {Array.from({ length: PARTS }, (_, index) => (
        <Part key={index} index={index} />
      ))}
    </>
  );
}

async function showWithoutSession() {
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: 'app', component: AppShell });
  const page = createRoute({ getParentRoute: () => shell, path: '/dashboard', component: Page });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: ['/dashboard'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByLabelText('Loading the page');
}

test('input is handled while the page renders once the session is known', async () => {
  await showWithoutSession();
  expect(happened).toEqual([]);
  const onboarding = { onboarding_completed: true, dismissed: true };
  queryClient.setQueryData(sessionQuery.queryKey, { id: 'u1', username: 'ada', onboarding } as never);
  await vi.waitFor(() => expect(screen.getByRole('heading', { name: 'Dashboard' })).toBeTruthy());
  expect(happened.indexOf('a touch is answered')).toBeLessThan(happened.indexOf(`part ${PARTS - 1}`));
});
