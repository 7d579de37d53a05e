import type { Provider } from '@bakehouse/contract/generators';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { forgetTab } from '../../lib/tab-storage.ts';
import { sessionQuery } from '../accounts/api.ts';
import { servedGeneratorsQuery } from './api.ts';
import { generatorsRoutes } from './routes.ts';

// What is served is here already; what it becomes is the answer to reading it again. Nothing else is read.
const served = vi.hoisted(() => ({ value: null as unknown }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: async ({ path }: { path: string }) =>
    path === '/api/v1/generators' && served.value ? served.value : new Promise(() => {}),
}));

// The page is loaded on demand; how long that takes says nothing here.
beforeAll(() => import('./generator-page.tsx'));

beforeEach(() => {
  cleanup();
  sessionStorage.clear();
  queryClient.clear();
  queryClient.setQueryData(sessionQuery.queryKey, null);
});

const fal = { title: 'fal', model: 'fal-ai/flux/dev', fields: ['aspect_ratio', 'n'], price: '0.625' };

async function open(path: string, servedBy: Provider[]) {
  const root = createRootRoute({ component: Outlet });
  const start = createRoute({ getParentRoute: () => root, path: '/', component: () => <h1>Start</h1> });
  const flux = { served_by: servedBy, upstream: servedBy.includes('upstream') ? fal : null };
  queryClient.setQueryData(servedGeneratorsQuery.queryKey, { flux } as never);
  const router = createRouter({
    routeTree: root.addChildren([start, ...generatorsRoutes(root)]),
    history: createMemoryHistory({ initialEntries: [path] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole('heading', { level: 1 });
  return router;
}

const prompt = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
const generate = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Generate' });

it('a page that is not served shows its form, Generate disabled, what it waits for, and no price', async () => {
  await open('/flux', []);
  expect(screen.getByRole('heading', { name: 'FLUX.1' })).toBeTruthy();
  await userEvent.type(prompt(), 'bread');
  expect(generate().disabled).toBe(true);
  expect(screen.getByText(/^FLUX.1 needs an engine or a service/)).toBeTruthy();
  expect(document.body.textContent).not.toMatch(/\$|BGL/);
});

it('the button is described by what its generator waits for, where it waits', async () => {
  await open('/flux', []);
  const reason = document.getElementById(generate().getAttribute('aria-describedby') ?? '');
  expect(reason?.textContent).toMatch(/^FLUX.1 needs an engine or a service/);
  cleanup();
  await open('/flux', ['own']);
  expect(generate().hasAttribute('aria-describedby')).toBe(false);
});

it('an upstream service opens the public page, and not the one of own models', async () => {
  await open('/flux', ['upstream']);
  expect(generate().disabled).toBe(false);
  cleanup();
  await open('/bakery/flux', ['upstream']);
  expect(generate().disabled).toBe(true);
  expect(screen.getByText(/^FLUX.1 needs a model on this installation/)).toBeTruthy();
});

it('a page that a service draws for says so, what it costs, and asks for what the service takes', async () => {
  await open('/flux', ['upstream']);
  expect(screen.getByText(/^Drawn by fal: your prompt leaves this installation/).textContent).toContain(
    'fal-ai/flux/dev',
  );
  expect(screen.queryByRole('textbox', { name: 'Steps' })).toBeNull();
  expect(screen.getByRole('group', { name: 'Price' }).textContent).toContain('$0.03');
  const count = await screen.findByRole('textbox', { name: 'Pictures' });
  await userEvent.clear(count);
  await userEvent.type(count, '3');
  expect(screen.getByRole('group', { name: 'Price' }).textContent).toContain('$0.08');
  cleanup();
  await open('/flux', ['own', 'upstream']);
  expect(screen.getByText('Drawn on this installation: your prompt stays here.')).toBeTruthy();
  expect(await screen.findByRole('textbox', { name: 'Steps' })).toBeTruthy();
});

it('until it is known who is signed in, nothing can be generated, and no price for visitors is shown', async () => {
  queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
  // The session is read by the page alone, and never answered.
  vi.stubGlobal('fetch', () => new Promise(() => undefined));
  await open('/flux', ['upstream']);
  await userEvent.type(prompt(), 'A loaf of bread');
  expect(generate().disabled).toBe(true);
  expect(screen.getByRole('group', { name: 'Price' }).textContent).toBe('Price');

  act(() => queryClient.setQueryData(sessionQuery.queryKey, null));
  await screen.findByText('$0.03');
  expect(generate().disabled).toBe(false);
  await userEvent.click(generate());
  expect(await screen.findByText('API key not found')).toBeTruthy();
  vi.unstubAllGlobals();
});

it('a visitor fills the form of a served page, is asked to sign in, and finds the prompt again afterwards', async () => {
  const router = await open('/flux', ['own']);
  await userEvent.click(generate());
  expect(await screen.findByText('Please enter a prompt')).toBeTruthy();
  expect(screen.queryByText('API key not found')).toBeNull();

  await userEvent.type(prompt(), 'A loaf of bread');
  await userEvent.click(generate());
  expect(await screen.findByText('API key not found')).toBeTruthy();
  await userEvent.click(screen.getByRole('link', { name: 'Sign in' }));
  await screen.findByRole('heading', { name: 'Start' });
  const { next } = router.history.location.state;
  expect(next).toBe('/flux');

  queryClient.setQueryData(sessionQuery.queryKey, { id: 'u1' } as never);
  await router.navigate({ href: next ?? '' });
  await screen.findByRole('heading', { name: 'FLUX.1' });
  expect(prompt().value).toBe('A loaf of bread');
});

it('what somebody has typed goes with the sign-out, in the form in sight and on the other pages', async () => {
  const router = await open('/wan', []);
  await userEvent.type(prompt(), 'My secret film');
  await router.navigate({ href: '/flux' });
  await screen.findByRole('heading', { name: 'FLUX.1' });
  await userEvent.type(prompt(), 'My secret loaf');
  act(() => forgetTab());
  expect(prompt().value).toBe('');
  await router.navigate({ href: '/wan' });
  await screen.findByRole('heading', { name: /WAN/i });
  expect(prompt().value).toBe('');
});

it('a prompt that is brought along stands in the form', async () => {
  await open('/flux?prompt=Rye%20bread', []);
  expect(prompt().value).toBe('Rye bread');
});

it('a page that waits for the installation’s own model opens by itself once that is there', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await open('/flux', []);
  expect(generate().disabled).toBe(true);
  served.value = { generators: [{ name: 'flux', served_by: ['own'], upstream: null }] };
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  vi.useRealTimers();
  await waitFor(() => expect(generate().disabled).toBe(false));
});
