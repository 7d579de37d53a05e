import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { checkServer } from '../../lib/live/online.ts';
import { notify } from '../../ui/notify.ts';
import { Shell } from '../shell.tsx';

const { forever } = vi.hoisted(() => ({ forever: () => new Promise(() => {}) }));
vi.mock('../../lib/api/api-client.ts', () => ({ call: forever }));
vi.mock('../../modules/accounts/sign-in/auth-request.ts', () => ({ authRequest: forever }));
vi.mock('../../lib/when-idle.ts', () => ({
  preloadLater: () => () => {},
  whenIdle: () => () => {},
  idleQueue: () => () => () => {},
}));

/** Whether the menu's code can be loaded. */
const code = vi.hoisted(() => ({ isThere: false }));
vi.mock('./mobile-menu.tsx', async (original) => {
  const { MobileMenu } = await original<typeof import('./mobile-menu.tsx')>();
  return {
    get MobileMenu() {
      if (!code.isThere) throw new TypeError('Failed to fetch dynamically imported module');
      return MobileMenu;
    },
  };
});

const answer = vi.fn<typeof fetch>();
beforeEach(async () => {
  vi.restoreAllMocks();
  vi.spyOn(console, 'error').mockReturnValue();
  vi.stubGlobal('fetch', answer);
  // Offline, loading fails immediately.
  answer.mockRejectedValue(new TypeError('Failed to fetch'));
  await checkServer();
});

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

test('reports a menu that fails to load, and does not open it when the server is back', async () => {
  const failure = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  await show();
  await click(button());
  await waitFor(() => expect(failure).toHaveBeenCalledOnce());
  expect(document.activeElement).toBe(button());
  code.isThere = true;
  answer.mockResolvedValue(new Response(null));
  await act(() => checkServer());
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(button().getAttribute('aria-expanded')).toBe('false');
  await click(button());
  expect(await screen.findByRole('dialog', { name: 'Menu' })).toBeTruthy();
  expect(button().getAttribute('aria-expanded')).toBe('true');
});

test('a menu that is reopened while it slides out stays open', async () => {
  code.isThere = true;
  await show();
  await click(button());
  await click(await screen.findByRole('button', { name: 'Close' }));
  await act(async () => button().click());
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(screen.getByRole('dialog', { name: 'Menu' })).toBeTruthy();
});
