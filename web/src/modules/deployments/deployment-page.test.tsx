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
import { cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { formatDateTime } from '../../lib/format/format-time.ts';
import { UserContext } from '../accounts/session.ts';
import { deploymentsRoutes } from './routes.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: () => new Promise(() => undefined) }));

beforeAll(() => import('./deployment-page.tsx'));
beforeEach(() => {
  cleanup();
  queryClient.clear();
});

function open(changed: object, address = '/my-deployments/images/p1') {
  const deployment = {
    pod_id: 'p1',
    kind: 'flux',
    title: 'Rye',
    model_id: 'm1',
    model_name: 'rye',
    status: 'running',
    inference_url: 'https://bake.example/rye',
    endpoint_url: 'https://bake.example/v1',
    terminated_at: null,
    created_at: '2026-01-01T00:00:00.000Z',
    cost_so_far: '0',
    reason: '',
    stop_reason: null,
    progress: 100,
    device: 'NVIDIA H100',
    price_per_hour: '25',
    sleeps_after_minutes: 45,
    ready_at: '2026-01-01T00:01:00.000Z',
    last_request_at: null,
    ...changed,
  };
  queryClient.setQueryData(['deployment', 'one', 'p1'], deployment);
  const root: AnyRoute = createRootRoute({ component: Outlet });
  const app = createRoute({ getParentRoute: () => root, id: 'app' });
  const router = createRouter({
    routeTree: root.addChildren([app.addChildren([...deploymentsRoutes(app)])]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <UserContext value={{ id: 'u1' } as never}>
        <RouterProvider router={router as never} />
      </UserContext>
    </QueryClientProvider>,
  );
}

test('a usable deployment links to its generator and shows how to call it', async () => {
  open({});
  const link = await screen.findByRole('link', { name: 'Generate with it' });
  expect(link.getAttribute('href')).toBe('/flux?model=rye');
  await userEvent.click(screen.getByRole('button', { name: 'Use from code' }));
  const code = (await screen.findByRole('region', { name: 'curl' })).textContent;
  expect(code).toContain('https://bake.example/v1/images/generations');
  cleanup();
  open({ kind: 'flux-kontext' });
  const edit = await screen.findByRole('link', { name: 'Edit a picture' });
  expect(edit.getAttribute('href')).toBe('/flux-kontext?model=rye');
  cleanup();
  open({ kind: 'paris' });
  const paris = await screen.findByRole('link', { name: 'Generate with it' });
  expect(paris.getAttribute('href')).toBe('/paris?model=rye');
  cleanup();
  open({ status: 'deploying' });
  await screen.findByRole('button', { name: 'Terminate' });
  expect(screen.queryByRole('link', { name: 'Generate with it' })).toBeNull();
});

test('identifies the deployment among others of its model, and shows when it sleeps', async () => {
  open({ model_name: 'rye-2' });
  expect(await screen.findByText('· sleeps after 45 min')).toBeTruthy();
  expect(screen.queryByText('p1')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Details' }));
  await screen.findByText('p1');
  expect(screen.getByText('rye-2', { selector: 'dd *' })).toBeTruthy();
  expect(screen.getByText(formatDateTime(new Date('2026-01-01T00:00:00.000Z')))).toBeTruthy();
  expect(screen.getByText('Sleeps after 45 minutes without a request')).toBeTruthy();
});

const text = {
  kind: 'text',
  task: 'text',
  context_tokens: 4096,
  vision: true,
  base_model_title: 'Crumb',
  max_replicas: 1,
};

test('shows Claude Code settings for a text model, and links to other agents', async () => {
  open(text, '/my-deployments/p1?tab=code');
  const settings = await screen.findByRole('region', { name: 'Claude Code' });
  expect(settings.textContent).toContain('ANTHROPIC_MODEL=rye');
  const others = screen.getByRole('link', { name: 'Coding agents and clients' });
  expect(others.getAttribute('href')).toBe('/docs/coding-agents');
});

test('says that a model reads pictures', async () => {
  open(text, '/my-deployments/p1?tab=details');
  expect(await screen.findByText('context of 4,096 tokens, reads pictures')).toBeTruthy();
});

test('opens an embedding model on its code tab, without a playground', async () => {
  open({ ...text, task: 'embedding' }, '/my-deployments/p1');
  const code = await screen.findByRole('region', { name: 'curl' });
  expect(code.textContent).toContain('/v1/embeddings');
  expect(screen.queryByRole('tab', { name: 'Playground' })).toBeNull();
  expect(screen.queryByRole('region', { name: 'Claude Code' })).toBeNull();
});
