import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
  redirect,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../../lib/api/query-client.ts';
import { sessionQuery, signIn } from '../api.ts';
import { AccountCard } from './account-card.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => {}) }));
vi.mock('./auth-request.ts', () => ({ authRequest: () => new Promise(() => {}) }));
vi.mock('../api.ts', async (original) => ({
  ...(await original<typeof import('../api.ts')>()),
  signIn: vi.fn<typeof signIn>(),
}));

let isSignedIn = false;

function show() {
  queryClient.setQueryData(sessionQuery.queryKey, null);
  const root = createRootRoute();
  const landing = createRoute({ getParentRoute: () => root, path: '/', component: AccountCard });
  const own = createRoute({
    getParentRoute: () => root,
    path: '/flux-kontext',
    beforeLoad: ({ location }) => {
      if (!isSignedIn) throw redirect({ to: '/', replace: true, state: { next: location.href } });
    },
    component: () => <h1>FLUX.1 Kontext</h1>,
  });
  const router = createRouter({
    routeTree: root.addChildren([landing, own]),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}

test('a link of the page that leads to where one has to be signed in is explained, and followed after signing in', async () => {
  const router = show();
  const email = await screen.findByLabelText('Email');
  expect(screen.queryByText('That page is for signed-in users')).toBeNull();
  await router.navigate({ to: '/flux-kontext' });
  expect(await screen.findByText('That page is for signed-in users')).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByLabelText('Email'));

  isSignedIn = true;
  await userEvent.type(email, 'ada@example.com');
  await userEvent.type(screen.getByLabelText('Password'), 'a long password{Enter}');
  expect(await screen.findByRole('heading', { name: 'FLUX.1 Kontext' })).toBeTruthy();
});
