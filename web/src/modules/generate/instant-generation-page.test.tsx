import { quoteGeneration, startGeneration } from '@bakehouse/contract/generations';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { act, render, renderHook, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { sessionQuery, UserContext } from '../accounts/session.ts';
import { generationsQuery, historyOf } from '../gallery/generation-queries.ts';
import { readStoredDraft, useDraft } from './form/use-draft.ts';
import { generateRoutes, ownGenerateRoutes } from './routes.ts';
import { servedGeneratorsQuery } from './served-generators.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

// Loaded up front, so that tests do not depend on load time.
beforeAll(() =>
  Promise.all([
    import('./generator-page.tsx'),
    import('./own-results.tsx'),
    import('./form/generator-settings.tsx'),
    import('./instant-generation-page.tsx'),
  ]),
);

beforeEach(() => {
  sessionStorage.clear();
  queryClient.clear();
  vi.mocked(call)
    .mockReset()
    .mockImplementation(() => new Promise(() => {}));
});

function open(served: object) {
  queryClient.setQueryData(servedGeneratorsQuery.queryKey, served as never);
  queryClient.setQueryData(sessionQuery.queryKey, { id: 'u1' } as never);
  // Each page waits for its first reads, but at most 3 s.
  for (const wanted of [{ limit: 10 }, historyOf('flux'), historyOf('paris')])
    queryClient.setQueryData(generationsQuery('u1', wanted).queryKey, {
      pages: [{ generations: [], next_cursor: null }],
      pageParams: [null],
    });
  const root = createRootRoute({ component: Outlet });
  const router = createRouter({
    routeTree: root.addChildren([...generateRoutes(root), ...ownGenerateRoutes(root)]),
    history: createMemoryHistory({ initialEntries: ['/instant-generation'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'u1' } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
  return router;
}

it('asks for a prompt, shows what the generator waits for, and passes the prompt to its page', async () => {
  const router = open({ flux: { served_by: [], upstreams: [] } });
  const goOn = await screen.findByRole('button', { name: 'Continue' });
  expect(screen.getByText(/^It needs a deployment, or a service/)).toBeTruthy();
  expect(await screen.findByText('No generations yet')).toBeTruthy();
  await userEvent.click(goOn);
  expect(await screen.findByText('Please enter a prompt')).toBeTruthy();
  await userEvent.type(screen.getByRole('textbox', { name: 'Prompt' }), 'Rye bread');
  await userEvent.click(goOn);
  await screen.findByRole('heading', { level: 1, name: 'FLUX.1' });
  expect(readStoredDraft('flux').prompt).toBe('Rye bread');
  // Back restores the form.
  router.history.back();
  await screen.findByRole('heading', { level: 1, name: 'Instant Generation' });
  expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' }).value).toBe('Rye bread');
  expect(screen.getByRole('combobox', { name: 'Generator' }).textContent).toContain('FLUX.1');
});

it('generates, and opens the page that shows the progress', async () => {
  const answers = new Map<unknown, object>([
    [quoteGeneration, { cost: '0.5' }],
    [startGeneration, { id: 'g1', generator: 'paris', state: 'queued' }],
  ]);
  vi.mocked(call).mockImplementation(async (endpoint) => answers.get(endpoint) ?? new Promise(() => {}));
  const router = open({ paris: { served_by: ['own'], upstreams: [] } });
  await userEvent.type(await screen.findByRole('textbox', { name: 'Prompt' }), 'An apple');
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  await screen.findByRole('heading', { level: 1, name: 'Paris' });
  expect(readStoredDraft('paris').prompt).toBe('An apple');
  expect(router.state.location.pathname).toBe('/paris');
  expect(call).toHaveBeenCalledWith(
    startGeneration,
    { body: expect.objectContaining({ generator: 'paris', prompt: 'An apple' }) },
    expect.anything(),
  );
});

it('if nothing works yet, selects a generator in preparation and shows that', async () => {
  open({ paris: { served_by: [], upstreams: [], is_being_prepared: true } });
  expect(await screen.findByText(/^The starter model for Paris is still being prepared/)).toBeTruthy();
});

it('rejects an overlong prompt before navigating, also by keyboard', async () => {
  const router = open({});
  const prompt = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
  await userEvent.click(prompt);
  await userEvent.paste('a'.repeat(4_001));
  await userEvent.keyboard('{Control>}{Enter}{/Control}');
  expect(await screen.findByText('Prompt must have at most 4,000 characters')).toBeTruthy();
  await userEvent.type(prompt, '{Backspace}{Control>}{Enter}{/Control}');
  await screen.findByRole('heading', { level: 1, name: 'FLUX.1' });
  expect(router.state.location.search).toEqual({});
});

it("shows the price of the settings last used on the generator's page", async () => {
  const page = renderHook(() => useDraft('flux', {}, () => undefined));
  const { typed, change } = page.result.current;
  act(() => change({ values: { ...typed.values, n: 4 } }));
  page.unmount();
  open({ flux: { served_by: ['upstream'], upstreams: [{ title: 'fal', model: 'flux', fields: ['n'] }] } });
  await vi.waitFor(() =>
    expect(call).toHaveBeenCalledWith(
      quoteGeneration,
      { body: { generator: 'flux', parameters: expect.objectContaining({ n: 4 }) } },
      expect.anything(),
    ),
  );
});
