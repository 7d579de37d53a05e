import type { User } from '@bakehouse/contract/accounts';
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
import { beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { checkServer } from '../../lib/live/online.ts';
import { createStore } from '../../lib/store.ts';
import { notify } from '../../ui/notify.ts';
import { Shell } from '../shell.tsx';
import { preloadPalette } from './deferred-palette.tsx';
import { releaseKeystrokes } from './type-ahead-buffer.ts';

const { forever } = vi.hoisted(() => ({ forever: () => new Promise(() => {}) }));
vi.mock('../../lib/api/api-client.ts', () => ({ call: forever }));
vi.mock('../../modules/accounts/sign-in/auth-request.ts', () => ({ authRequest: forever }));
vi.mock('../../lib/live/follow-changes.ts', () => ({ followChanges: forever }));
vi.mock('../../lib/when-idle.ts', () => ({
  preloadLater: () => () => {},
  whenIdle: () => () => {},
  idleQueue: () => () => () => {},
}));

/** Whether the palette's code can be loaded. */
const code = vi.hoisted(() => ({ isThere: false }));
vi.mock('./command-palette.tsx', () => ({
  get CommandPalette() {
    if (!code.isThere) throw new TypeError('Failed to fetch dynamically imported module');
    return () => <p>The palette</p>;
  },
}));

const ada = { id: 'u1', username: 'ada', onboarding: { onboarding_completed: true } } as User;
const shownUser = createStore<User | null | undefined>(ada);

/** The shell until the session turns out to be missing, then a form. */
function App() {
  const user = shownUser.use();
  if (user === null) return <input aria-label="Email" />;
  return (
    <Shell user={user}>
      <Outlet />
    </Shell>
  );
}

const tryAgain = vi.fn<() => void>();

function Page() {
  return (
    <>
      <input aria-label="Prompt" />
      <button type="button" onClick={tryAgain}>
        Try again
      </button>
    </>
  );
}

const answer = vi.fn<typeof fetch>();
beforeEach(async () => {
  vi.restoreAllMocks();
  vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  vi.stubGlobal('fetch', answer);
  // Offline, loading fails immediately.
  answer.mockRejectedValue(new TypeError('Failed to fetch'));
  await checkServer();
  releaseKeystrokes();
  code.isThere = false;
});

async function show(user: User | undefined) {
  shownUser.set(user);
  const root = createRootRoute({ component: App });
  const page = createRoute({ getParentRoute: () => root, path: '/dashboard', component: Page });
  const router = createRouter({
    routeTree: root.addChildren([page]),
    history: createMemoryHistory({ initialEntries: ['/dashboard'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByLabelText('Prompt');
}

/** Suspended content only resumes inside an awaited `act`. */
const openPalette = () => act(async () => userEvent.keyboard('{Control>}k{/Control}'));

/** Types into a field of the page and returns its value. */
async function typeInto(label: string) {
  const field = screen.getByLabelText<HTMLInputElement>(label);
  await userEvent.clear(field);
  await userEvent.type(field, 'rye');
  return field.value;
}

test('retries a palette that failed to preload, else releases the keyboard and reports the error', async () => {
  await preloadPalette();
  await show(ada);
  await openPalette();
  await vi.waitFor(() => expect(notify.failure).toHaveBeenCalledTimes(1));
  expect(await typeInto('Prompt')).toBe('rye');
});

test('further attempts behave the same, and none opens the palette when the server is back', async () => {
  await show(ada);
  for (const times of [1, 2]) {
    await openPalette();
    await vi.waitFor(() => expect(notify.failure).toHaveBeenCalledTimes(times));
    expect(await typeInto('Prompt')).toBe('rye');
  }
  code.isThere = true;
  answer.mockResolvedValue(new Response(null));
  await act(() => checkServer());
  await act(() => preloadPalette());
  expect(screen.queryByText('The palette')).toBeNull();
  await openPalette();
  expect(await screen.findByText('The palette')).toBeTruthy();
});

test('the sign-in form receives the keys if there is no session', async () => {
  await show(undefined);
  await openPalette();
  act(() => shownUser.set(null));
  expect(await typeInto('Email')).toBe('rye');
});

test('the page receives the keys until the session is known', async () => {
  await show(undefined);
  await openPalette();
  screen.getByRole('button', { name: 'Try again' }).focus();
  await userEvent.keyboard('{Enter}');
  expect(tryAgain).toHaveBeenCalledTimes(1);
});

test('after signing out while the palette opens, the next page receives the keys', async () => {
  await show(ada);
  await openPalette();
  act(() => shownUser.set(null));
  expect(await typeInto('Email')).toBe('rye');
});
