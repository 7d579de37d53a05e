import { getSession } from '@bakehouse/contract/accounts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  type AnyRouter,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
  redirect,
} from '@tanstack/react-router';
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { broadcastSession } from '../../../lib/session/session-channel.ts';
import { sessionQuery } from '../session.ts';
import { resetPassword, signIn } from './sign-in-calls.ts';
import { SignInCard } from './sign-in-card.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('./sign-in-calls.ts', async (original) => ({
  ...(await original<typeof import('./sign-in-calls.ts')>()),
  signIn: vi.fn<typeof signIn>(),
  resetPassword: vi.fn<typeof resetPassword>(),
}));

beforeEach(() => {
  cleanup();
  queryClient.setQueryData(sessionQuery.queryKey, null);
  vi.mocked(call).mockImplementation(async ({ path }) =>
    path.endsWith('/sign-in-methods') ? { methods: ['password'] } : { user: { id: 'ada' }, api_key: 'bk_1' },
  );
});

function show(router: AnyRouter) {
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

test('opens the dashboard when another tab signs in, and sends no request when it signs out', async () => {
  const root = createRootRoute();
  const landing = createRoute({ getParentRoute: () => root, path: '/', component: SignInCard });
  const dashboard = createRoute({
    getParentRoute: () => root,
    path: '/dashboard',
    component: () => <h1>Dashboard</h1>,
  });
  show(createRouter({ routeTree: root.addChildren([landing, dashboard]), history: createMemoryHistory() }));
  await screen.findByRole('heading', { name: 'Sign in' });
  broadcastSession({ type: 'signed-out', userId: 'ada' });
  expect(call).not.toHaveBeenCalledWith(getSession, expect.anything(), expect.anything());
  broadcastSession({ type: 'signed-in', userId: 'ada' });
  expect(await screen.findByRole('heading', { name: 'Dashboard' })).toBeTruthy();
});

test('explains why a link requires signing in, and follows it afterwards', async () => {
  let isSignedIn = false;
  const root = createRootRoute();
  const landing = createRoute({ getParentRoute: () => root, path: '/', component: SignInCard });
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
  show(router);
  const email = await screen.findByLabelText('Email');
  expect(screen.queryByText('Sign in to continue')).toBeNull();
  await router.navigate({ to: '/flux-kontext' });
  expect(await screen.findByText('Sign in to continue')).toBeTruthy();
  expect(document.activeElement).toBe(email);

  isSignedIn = true;
  await userEvent.type(email, 'ada@example.com');
  await userEvent.type(screen.getByLabelText('Password'), 'a long password{Enter}');
  expect(await screen.findByRole('heading', { name: 'FLUX.1 Kontext' })).toBeTruthy();
});

test('signing up after opening the sign-in page from a public page shows no explanation', async () => {
  const root = createRootRoute();
  const landing = createRoute({
    getParentRoute: () => root,
    path: '/',
    validateSearch: (search: { form?: 'sign-up' }) => search,
    component: SignInCard,
  });
  const router = createRouter({ routeTree: root.addChildren([landing]), history: createMemoryHistory() });
  await router.navigate({ to: '/', state: { next: '/paris' } });
  show(router);
  await userEvent.click(await screen.findByRole('link', { name: 'Create an account' }));
  expect(await screen.findByRole('heading', { name: 'Create your account' })).toBeTruthy();
  expect(screen.queryByText('Sign in to continue')).toBeNull();
});

test('explains that a URL requires signing in', async () => {
  const root = createRootRoute();
  const landing = createRoute({ getParentRoute: () => root, path: '/', component: SignInCard });
  const router = createRouter({ routeTree: root.addChildren([landing]), history: createMemoryHistory() });
  await router.navigate({ to: '/', state: { next: '/dataset', isSentBack: true } });
  show(router);
  expect(await screen.findByText('Sign in to continue')).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByLabelText('Email'));
});

test('shows the characters of a password on request', async () => {
  const root = createRootRoute();
  const landing = createRoute({ getParentRoute: () => root, path: '/', component: SignInCard });
  show(createRouter({ routeTree: root.addChildren([landing]), history: createMemoryHistory() }));
  const password = await screen.findByLabelText<HTMLInputElement>('Password');
  await userEvent.type(password, 'sourdough');
  const button = screen.getByRole('button', { name: 'Show characters' });
  expect([password.type, button.getAttribute('aria-pressed')]).toEqual(['password', 'false']);
  await userEvent.click(button);
  expect([password.type, password.value, button.getAttribute('aria-pressed')]).toEqual([
    ...['text', 'sourdough', 'true'],
  ]);
});

test('a password link that was already used says so, and offers a new one', async () => {
  vi.mocked(resetPassword).mockRejectedValue(
    new ApiError('Invalid token', { status: 400, code: 'invalid_token' }),
  );
  const root = createRootRoute();
  const landing = createRoute({
    getParentRoute: () => root,
    path: '/',
    validateSearch: (search: { form?: 'new-password' | 'forgot-password'; token?: string }) => search,
    component: SignInCard,
  });
  const router = createRouter({ routeTree: root.addChildren([landing]), history: createMemoryHistory() });
  await router.navigate({ to: '/', search: { form: 'new-password', token: 't' } });
  show(router);
  await userEvent.type(await screen.findByLabelText('New password'), 'an even longer password{Enter}');
  expect(await screen.findByText('This link no longer works')).toBeTruthy();
  expect(screen.getByText(/If you have just changed your password with it/)).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Request a new link' })).toBeTruthy();
});
