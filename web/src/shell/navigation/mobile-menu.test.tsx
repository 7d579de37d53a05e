import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { Shell } from '../shell.tsx';

const { forever } = vi.hoisted(() => ({ forever: () => new Promise(() => {}) }));
vi.mock('../../lib/api/api-client.ts', () => ({ call: forever }));
vi.mock('../../modules/accounts/sign-in/auth-request.ts', () => ({ authRequest: forever }));
async function show() {
  const root = createRootRoute({ component: () => <Shell user={null} children={<Outlet />} /> });
  const page = createRoute({ getParentRoute: () => root, path: '/flux', component: () => <h1>FLUX</h1> });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: ['/flux'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole('heading', { name: 'FLUX' });
}

/** Found even while hidden behind the menu. */
const button = () => screen.getByRole('button', { name: 'Menu', hidden: true });
const click = (element: HTMLElement) => act(async () => userEvent.click(element));

test('a menu that is reopened while it slides out stays open', async () => {
  await show();
  await click(button());
  await click(await screen.findByRole('button', { name: 'Close' }));
  await act(async () => button().click());
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(screen.getByRole('dialog', { name: 'Menu' })).toBeTruthy();
});
