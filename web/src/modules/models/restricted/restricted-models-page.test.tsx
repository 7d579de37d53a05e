import { listRestrictedModels, type RestrictedModel } from '@bakehouse/contract/restricted-models';
import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { cleanup, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { RestrictedModelsPage } from './restricted-models-page.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<(endpoint: unknown) => Promise<unknown>>() }));

const crumb: RestrictedModel = {
  id: 'meta/crumb-70b',
  name: 'Crumb 70B',
  family: 'crumb',
  tags: [],
  details: '',
  access: 'requested',
  is_available: false,
  dataset_id: null,
};

function show(models: RestrictedModel[]) {
  vi.mocked(call).mockImplementation(async (endpoint: unknown) =>
    endpoint === listRestrictedModels ? { restricted_models: models, next_cursor: null } : undefined,
  );
  const router = createRouter({
    routeTree: createRootRoute({ component: RestrictedModelsPage }),
    history: createMemoryHistory(),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}

beforeEach(() => {
  cleanup();
  queryClient.clear();
});

test('lists the models with the request status, each linking to its page', async () => {
  show([crumb, { ...crumb, id: 'meta/crust', name: 'Crust', access: 'none' }]);
  const link = await screen.findByRole('link', { name: 'Crumb 70B' });
  expect(link.getAttribute('href')).toBe('/model/source/meta%2Fcrumb-70b/description');
  expect(screen.getAllByRole('listitem').map(({ textContent }) => textContent)).toEqual([
    'Crumb 70Bmeta/crumb-70bRequested',
    'Crustmeta/crustNo access',
  ]);
});

test('explains who adds models if there are none', async () => {
  show([]);
  await screen.findByText('No restricted models yet');
  expect(screen.getByText(/^An operator adds them/)).toBeTruthy();
});
