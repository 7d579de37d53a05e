import { getAsset, getModelReadiness } from '@bakehouse/contract/assets';
import { listVllm } from '@bakehouse/contract/deployments/text';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  type AnyRoute,
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { sessionQuery, UserContext } from '../accounts/session.ts';
import { modelsRoutes } from './routes.ts';

const server = vi.hoisted(() => ({ answers: new Map<unknown, unknown>() }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: async (endpoint: unknown) => server.answers.get(endpoint) ?? new Promise(() => undefined),
}));

const model = {
  ...{ dataset_id: 'm1', user_id: 'u1', title: 'Rye', category: '', tags: [], details: '', card: null },
  ...{ files: [{ path: 'model.gguf', size_bytes: 1 }], file_count: 1, pipeline: null, lineage: null },
};
const pod = { pod_id: 'p1', model_name: 'rye-1', status: 'running' };

async function open(pods: object[]) {
  // The page waits for its first reads, but at most 3 s.
  queryClient.setQueryData(sessionQuery.queryKey, { id: 'u1' } as never);
  server.answers.set(getAsset, model);
  server.answers.set(getModelReadiness, { deploy: null, train: null, lora: false });
  server.answers.set(listVllm, { pods });
  const root: AnyRoute = createRootRoute({ component: Outlet });
  const app = createRoute({ getParentRoute: () => root, id: 'app' });
  const history = createMemoryHistory({ initialEntries: ['/model/m1/description'] });
  const router = createRouter({ routeTree: root.addChildren([app.addChildren(modelsRoutes(app))]), history });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'u1' } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
  await screen.findByRole('button', { name: 'Delete' });
}

async function askToDelete(pods: object[]) {
  await open(pods);
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  const dialog = await screen.findByRole('alertdialog');
  return { dialog, action: within(dialog).getByRole<HTMLButtonElement>('button', { name: 'Delete' }) };
}

beforeEach(() => queryClient.clear());

test('deleting a deployed model shows a warning with a link to the deployment', async () => {
  const { dialog, action } = await askToDelete([pod]);
  expect(within(dialog).getByText(/^It is deployed as/).textContent).toBe(
    'It is deployed as rye-1. Terminate the deployment first.',
  );
  const link = within(dialog).getByRole('link', { name: 'rye-1' });
  expect(link.getAttribute('href')).toBe('/my-deployments/p1');
  expect(within(dialog).queryByText(/deleted too/)).toBeNull();
  expect(action.disabled).toBe(true);
});

test('a model whose deployments have ended can be deleted', async () => {
  const { dialog, action } = await askToDelete([{ ...pod, status: 'terminated' }]);
  expect(within(dialog).getByText('Its file is deleted too. This cannot be undone.')).toBeTruthy();
  expect(action.disabled).toBe(false);
});

test('a deployed model links to its chat; deploying it again is in the menu', async () => {
  await open([pod]);
  expect(screen.getByRole('link', { name: 'Chat' }).getAttribute('href')).toBe('/my-deployments/p1');
  expect(screen.queryByRole('button', { name: /^Deploy/ })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'More actions' }));
  expect((await screen.findByRole('menuitem', { name: 'Deploy again' })).getAttribute('href')).toBe(
    '/my-deployments?deploy=m1',
  );
});
