import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { setCredentials } from '../lib/api/credentials.ts';
import { queryClient } from '../lib/api/query-client.ts';
import { broadcastSession } from '../lib/session/session-channel.ts';
import { readFromTab, writeToTab } from '../lib/tab-storage.ts';
import { sessionQuery } from '../modules/accounts/session.ts';
import { sessionHint } from '../modules/accounts/session-hint.ts';
import { PublicShell } from './public-shell.tsx';

// Requests never complete: the test sets the session itself.
vi.mock('../lib/api/api-client.ts', () => ({ call: () => new Promise(() => {}) }));
vi.mock('../modules/accounts/sign-in/auth-request.ts', () => ({ authRequest: () => new Promise(() => {}) }));

const readPictures = vi.fn<() => Promise<string>>(async () => 'Pictures');

function Generator() {
  const { data } = useQuery({ queryKey: ['picture', 'list'], queryFn: readPictures });
  return (
    <>
      <h1>A generator</h1>
      <p>{data}</p>
    </>
  );
}

const { happyDOM } = window as never as { happyDOM: { setViewport: (size: { width: number }) => void } };
const setWidth = (width: number) => happyDOM.setViewport({ width });
beforeEach(() => setWidth(1440));

function show() {
  const root = createRootRoute();
  const shell = createRoute({ getParentRoute: () => root, id: 'public', component: PublicShell });
  const page = createRoute({
    getParentRoute: () => shell,
    path: '/generator',
    component: Generator,
  });
  const router = createRouter({
    routeTree: root.addChildren([shell.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: ['/generator?prompt=bread'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  return router;
}

it('lets a visitor in, and signing in returns to the page', async () => {
  queryClient.setQueryData(sessionQuery.queryKey, null);
  const router = show();
  expect(await screen.findByRole('heading', { name: 'A generator' })).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Sign up' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Create' })).toBeNull();
  expect(screen.queryByRole('link', { name: 'My Datasets' })).toBeNull();
  expect(screen.getByRole('link', { name: 'Documentation' })).toBeTruthy();
  screen.getByRole('link', { name: 'Sign in' }).click();
  await vi.waitFor(() =>
    expect(router.history.location.state).toMatchObject({ next: '/generator?prompt=bread' }),
  );
});

it('after signing out, refetches visible queries as a visitor and drops the rest', async () => {
  queryClient.setQueryData(sessionQuery.queryKey, null);
  queryClient.setQueryData(['balance', 'u1'], '125');
  readPictures.mockResolvedValueOnce("Ada's pictures").mockResolvedValueOnce("Everybody's pictures");
  queryClient.removeQueries({ queryKey: ['picture'] });
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  writeToTab('u1', 'conversation', 'Which bread?');
  show();
  expect(await screen.findByText("Ada's pictures")).toBeTruthy();
  broadcastSession({ type: 'signed-out', userId: 'u1' });
  expect(await screen.findByText("Everybody's pictures")).toBeTruthy();
  expect(queryClient.getQueryData(['balance', 'u1'])).toBeUndefined();
  expect(readFromTab('u1', 'conversation')).toBeNull();
});

it('renders only what a narrow window shows, until it is widened', async () => {
  setWidth(390);
  // Session unknown but expected: the header is a user's.
  sessionHint.set('expected');
  onTestFinished(() => sessionHint.set('none'));
  queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
  show();
  expect(await screen.findByRole('heading', { name: 'A generator' })).toBeTruthy();
  const shown = () => ({
    sidebar: screen.queryByRole('navigation', { name: 'Main' }) !== null,
    currency: screen.queryByRole('button', { name: 'BGL' }) !== null,
  });
  expect(shown()).toEqual({ sidebar: false, currency: false });
  setWidth(1024);
  await vi.waitFor(() => expect(shown()).toEqual({ sidebar: false, currency: true }));
  const sidebarAt = (width: number) => {
    setWidth(width);
    return shown().sidebar;
  };
  expect(sidebarAt(1279)).toBe(false);
  await vi.waitFor(() => expect(sidebarAt(1280)).toBe(true));
});
