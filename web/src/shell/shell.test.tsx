import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../lib/api/query-client.ts';
import { Shell } from './shell.tsx';

// Requests never complete.
const { forever } = vi.hoisted(() => ({ forever: () => new Promise(() => {}) }));
vi.mock('../lib/api/api-client.ts', () => ({ call: forever }));
vi.mock('../lib/device/use-window-width.ts', () => ({ useWindowWidth: () => true }));
vi.mock('../lib/live/follow-changes.ts', () => ({ followChanges: forever }));

beforeEach(async () => {
  const root = createRootRoute();
  const page = createRoute({
    getParentRoute: () => root,
    path: '/model',
    component: () => (
      <Shell user={{ id: 'ada', username: 'ada' } as never}>
        <h1>My Models</h1>
      </Shell>
    ),
  });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: ['/model'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole('heading', { name: 'My Models' });
});

test('the first link skips header and sidebar', () => {
  const [first] = screen.getAllByRole('link');
  expect(first?.textContent).toBe('Skip to main content');
  const target = document.querySelector(first?.getAttribute('href') ?? '');
  expect(target).toBe(screen.getByRole('main'));
  // Focusable, so that the link moves the focus there.
  expect(target?.getAttribute('tabindex')).toBe('-1');
});

test('on a path without a sidebar, a wide window shows its items as icons with names', async () => {
  const [aside] = screen.getAllByRole('complementary');
  expect(aside?.className).toContain('w-14');
  const chat = await screen.findByRole('link', { name: 'Chat' });
  expect(chat.getAttribute('href')).toBe('/chat');
  expect(screen.getByRole('button', { name: 'Menu' }).className).toContain('xl:hidden');
});

test('the logo links to the dashboard', () => {
  const logo = screen.getByRole('link', { name: 'Bakehouse, dashboard' });
  expect(logo.getAttribute('href')).toBe('/dashboard');
});
