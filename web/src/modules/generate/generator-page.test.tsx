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
import { clearTabStorage } from '../../lib/tab-storage.ts';
import { sessionQuery } from '../accounts/session.ts';
import { generateRoutes } from './routes.ts';
import { servedGeneratorsQuery } from './served-generators.ts';

// Served generators are cached up front; reading again returns `served`. Other reads never answer.
const served = vi.hoisted(() => ({ value: null as unknown }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: async ({ path }: { path: string }) => {
    if (path.startsWith('/api/v1/deployments/')) return { deployments: [] };
    return path === '/api/v1/generators' && served.value ? served.value : new Promise(() => {});
  },
}));

// Loaded up front, so that tests do not depend on load time.
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
  const upstreams = servedBy.includes('upstream') ? [fal] : [];
  const flux = { served_by: servedBy, upstreams, is_connectable: true };
  const imagen = { served_by: [], upstreams: [], is_connectable: false };
  queryClient.setQueryData(servedGeneratorsQuery.queryKey, { flux, wan: flux, imagen } as never);
  const router = createRouter({
    routeTree: root.addChildren([start, ...generateRoutes(root)]),
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

it('a page without a provider shows that instead of a form', async () => {
  await open('/flux?prompt=Rye%20bread', []);
  expect(await screen.findByText('FLUX.1 is not connected to this server')).toBeTruthy();
  expect(screen.getByText(/^It needs a deployment, or a service/)).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Generate' })).toBeNull();
  expect(document.body.textContent).not.toMatch(/\$|BGL/);
});

it('a substitute starter is labelled as such, describes its output, and asks only for a prompt', async () => {
  await open('/flux?prompt=Rye%20bread', ['own']);
  expect(await screen.findByText('FLUX.1 is not connected to this server')).toBeTruthy();
  expect(screen.getByText('A small starter model is used instead.')).toBeTruthy();
  expect(screen.getByText('Starter model, 128 × 128, best at single objects')).toBeTruthy();
  expect(generate().disabled).toBe(false);
  expect(prompt().value).toBe('Rye bread');
  await userEvent.click(await screen.findByRole('button', { name: 'Advanced' }));
  expect(screen.getByRole('spinbutton', { name: 'Seed' })).toBeTruthy();
  for (const name of ['Pictures', 'Steps', 'Guidance'])
    expect(screen.queryByRole('textbox', { name })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'a red apple on a table' }));
  expect(prompt().value).toBe('a red apple on a table');
});

it('shows operators how to connect a model, if it is connectable', async () => {
  const link = () => screen.queryByRole('link', { name: 'How to connect it' });
  await open('/flux', []);
  await screen.findByText('FLUX.1 is not connected to this server');
  expect(link()).toBeNull();
  act(() => void queryClient.setQueryData(sessionQuery.queryKey, { id: 'u1', is_operator: true } as never));
  await waitFor(() => expect(link()?.getAttribute('href')).toContain('/docs/connect-models'));
  cleanup();
  await open('/imagen', []);
  await screen.findByText(/^Google shut Imagen 4 down/);
  expect(link()).toBeNull();
});

it('an upstream service opens the public page but not the page of own models', async () => {
  await open('/flux', ['upstream']);
  expect(generate().disabled).toBe(false);
  cleanup();
  await open('/bakery/flux', ['upstream']);
  expect(await screen.findByText('No suitable picture model is deployed on this server.')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Generate' })).toBeNull();
});

it("a page served by a service shows that and its price, and offers the service's fields", async () => {
  await open('/flux', ['upstream']);
  expect(screen.getByText(/^Generated by fal. Your prompt is sent to fal/).textContent).toContain(
    'Once it starts, it cannot be cancelled. fal-ai/flux/dev',
  );
  expect(screen.queryByRole('group', { name: 'Quality' })).toBeNull();
  expect(screen.getByRole('group', { name: 'Price' }).textContent).toContain('$0.025');
  const count = await screen.findByRole('spinbutton', { name: 'Pictures' });
  await userEvent.clear(count);
  await userEvent.type(count, '3');
  expect(screen.getByRole('group', { name: 'Price' }).textContent).toContain('$0.075');
  cleanup();
  await open('/bakery/flux', ['upstream', 'own']);
  expect(screen.getByText(/Runs on this server; nothing is sent elsewhere/)).toBeTruthy();
  expect(screen.getByText('A small starter model is used instead.')).toBeTruthy();
});

it('until the session is known, nothing can be generated and no visitor price is shown', async () => {
  queryClient.removeQueries({ queryKey: sessionQuery.queryKey });
  // The session request never answers.
  vi.stubGlobal('fetch', () => new Promise(() => undefined));
  await open('/flux', ['upstream']);
  await userEvent.type(prompt(), 'A loaf of bread');
  expect(generate().disabled).toBe(true);
  expect(screen.getByRole('group', { name: 'Price' }).textContent).toBe('Price');

  act(() => void queryClient.setQueryData(sessionQuery.queryKey, null));
  await screen.findByText('$0.025');
  expect(generate().disabled).toBe(false);
  await userEvent.click(generate());
  expect(await screen.findByText('API key not found')).toBeTruthy();
  vi.unstubAllGlobals();
});

it('a visitor fills in the form, is asked to sign in, and finds the prompt afterwards', async () => {
  const router = await open('/flux', ['own']);
  await userEvent.click(generate());
  expect(await screen.findByText('Please enter a prompt')).toBeTruthy();
  expect(screen.queryByText('API key not found')).toBeNull();

  await userEvent.type(prompt(), 'A loaf of bread');
  await userEvent.click(generate());
  expect((await screen.findByRole('alert')).textContent).toMatch(/^Sign in to generate.*API key not found/);
  await userEvent.click(screen.getByRole('link', { name: 'Sign in' }));
  await screen.findByRole('heading', { name: 'Start' });
  const { next } = router.history.location.state;
  expect(next).toBe('/flux');

  queryClient.setQueryData(sessionQuery.queryKey, { id: 'u1' } as never);
  await router.navigate({ href: next ?? '' });
  await screen.findByRole('heading', { name: 'FLUX.1' });
  expect(prompt().value).toBe('A loaf of bread');
});

it('Enter inserts a line break, Ctrl or Cmd submits, and an overlong prompt is rejected', async () => {
  await open('/flux', ['own']);
  await userEvent.type(prompt(), 'A loaf{Enter}of bread');
  expect(screen.queryByText('API key not found')).toBeNull();
  await userEvent.type(prompt(), '{Control>}{Enter}{/Control}');
  expect(await screen.findByText('API key not found')).toBeTruthy();
  expect(prompt().value).toBe('A loaf\nof bread');

  await userEvent.clear(prompt());
  await userEvent.click(prompt());
  await userEvent.paste('a'.repeat(4_001));
  await userEvent.keyboard('{Meta>}{Enter}{/Meta}');
  expect(await screen.findByText('Prompt must have at most 4,000 characters')).toBeTruthy();
  expect(prompt().value).toHaveLength(4_001);
});

it('sign-out clears the drafts of this and other pages', async () => {
  const router = await open('/wan', ['own']);
  await userEvent.type(prompt(), 'My secret video');
  await router.navigate({ href: '/flux' });
  await screen.findByRole('heading', { name: 'FLUX.1' });
  await userEvent.type(prompt(), 'My secret loaf');
  act(() => clearTabStorage());
  expect(prompt().value).toBe('');
  await router.navigate({ href: '/wan' });
  await screen.findByRole('heading', { name: /WAN/i });
  expect(prompt().value).toBe('');
});

it('fills the form with a prompt from the link', async () => {
  await open('/flux?prompt=Rye%20bread', ['own']);
  expect(prompt().value).toBe('Rye bread');
});

it('a page that waits for the server’s own model opens once it is ready', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await open('/flux', []);
  expect(screen.queryByRole('button', { name: 'Generate' })).toBeNull();
  served.value = { generators: [{ name: 'flux', served_by: ['own'], upstreams: [] }] };
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  vi.useRealTimers();
  await waitFor(() =>
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Generate' }).disabled).toBe(false),
  );
});

it('a page whose starter is being prepared shows that, and opens once it is ready', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  await open('/paris', ['own']);
  const flux = { name: 'flux', served_by: ['own'], upstreams: [] };
  const paris = { name: 'paris', served_by: [] as Provider[], is_being_prepared: true, upstreams: [] };
  act(() => void queryClient.setQueryData(servedGeneratorsQuery.queryKey, { flux, paris } as never));
  const reason = await screen.findByText(/^The starter model for Paris is still being prepared/);
  expect(generate().disabled).toBe(true);
  expect(document.getElementById(generate().getAttribute('aria-describedby') ?? '')).toBe(
    reason.closest('[id]'),
  );
  served.value = { generators: [flux, { ...paris, served_by: ['own'], is_being_prepared: false }] };
  await act(() => vi.advanceTimersByTimeAsync(10_000));
  vi.useRealTimers();
  await waitFor(() =>
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Generate' }).disabled).toBe(false),
  );
});
