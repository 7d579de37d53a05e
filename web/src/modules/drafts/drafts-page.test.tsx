import { createDraft, listDrafts } from '@bakehouse/contract/drafts';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { DraftsPage } from './drafts-page.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

test('an empty draft is not listed, and New draft opens it instead of creating another', async () => {
  const draft = { rows: 0, status: 'empty', created_at: new Date().toISOString() };
  const drafts = [
    { ...draft, draft_id: 'd1', documents: [] },
    { ...draft, draft_id: 'd2', documents: [{ name: 'recipes.pdf' }] },
  ];
  vi.mocked(call).mockImplementation(async (endpoint: object) =>
    endpoint === listDrafts ? { drafts } : undefined,
  );
  const root = createRootRoute();
  const list = createRoute({ getParentRoute: () => root, path: '/', component: DraftsPage });
  const one = createRoute({ getParentRoute: () => root, path: '/drafts/$id' });
  const router = createRouter({ routeTree: root.addChildren([list, one]), history: createMemoryHistory() });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  expect(await screen.findByRole('link', { name: /recipes/ })).toBeTruthy();
  expect(screen.getAllByRole('row')).toHaveLength(2);
  await userEvent.click(screen.getByRole('button', { name: 'New draft' }));
  await vi.waitFor(() => expect(router.state.location.pathname).toBe('/drafts/d1'));
  expect(vi.mocked(call).mock.calls.map(([endpoint]) => endpoint)).not.toContain(createDraft);
});
