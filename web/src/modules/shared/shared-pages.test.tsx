import type { SharedModel, SharedRun, SharedThing } from '@bakehouse/contract/share-links';
import { QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  RouterProvider,
} from '@tanstack/react-router';
import { cleanup, render, screen } from '@testing-library/react';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { sharedRoutes } from './routes.ts';

/* The pages behind the links of runs and models, as whoever has no account sees them. */

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

beforeAll(
  () => Promise.all([import('./shared-run.tsx'), import('./shared-model.tsx'), import('./shared-page.tsx')]),
  60_000,
);
beforeEach(() => {
  cleanup();
  queryClient.clear();
});

const run: SharedRun = {
  ...{ kind: 'run', trains: 'text', title: 'Bread facts', maker: 'Ada', state: 'completed' },
  made_from: { base_model: 'Crumb', dataset: null },
  ...{ step: 20, steps_total: 20, elapsed_seconds: 90, created_at: '2026-01-01T00:00:00.000Z' },
  summary: { eval_loss: 0.5, eval_loss_base: 3.25, train_loss: 1.125 },
  ...{ points: [], held_out_answers: null, samples: null },
};
const model: SharedModel = {
  ...{ kind: 'model', title: 'Rye model', maker: null, details: 'Knows rye', created_at: run.created_at },
  ...{ model_id: null, card: '# Rye', card_metadata: null, made_from: null, source: null, samples: null },
  ...{ file_count: 2, size_bytes: 1_500_000 },
};

async function open(shared: SharedThing) {
  vi.mocked(call).mockResolvedValue(shared);
  const root = createRootRoute({ component: Outlet });
  const parent = createRoute({ getParentRoute: () => root, id: 'public' });
  const model_page = createRoute({ getParentRoute: () => root, path: '/model/$id/description' });
  const router = createRouter({
    routeTree: root.addChildren([parent.addChildren([...sharedRoutes(parent)]), model_page]),
    history: createMemoryHistory({ initialEntries: ['/share/token'] }),
  });
  render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
  await screen.findByRole('heading', { level: 1, name: shared.title });
}

const valueOf = (term: string) => screen.getByText(term).nextElementSibling?.textContent;

test('a run shows its losses, and of what it was made from only what everybody may know', async () => {
  await open(run);
  expect(screen.getByText(/^Training run · By Ada · /)).toBeTruthy();
  expect(screen.getByText('Completed')).toBeTruthy();
  expect(valueOf('Held-out loss')).toBe('0.500base model 3.250');
  expect([valueOf('Base model'), valueOf('Dataset')]).toEqual(['Crumb', 'A private dataset']);
  expect(screen.getByRole('heading', { name: 'Loss' })).toBeTruthy();
  expect(screen.queryByText('Before and after training')).toBeNull();
  expect(screen.queryByText(/Charged|Learning rate|Log$/)).toBeNull();
});

test('nobody else is advised what to do about its losses', async () => {
  const points: SharedRun['points'] = [
    { step: 0, values: { eval_loss: 3, held_out_rows: 9 } },
    { step: 1, values: { loss: 2, eval_loss: 1.5 } },
    { step: 2, values: { loss: 1, eval_loss: 1.8 } },
  ];
  await open({ ...run, points });
  expect(screen.getByRole('heading', { name: 'Loss' })).toBeTruthy();
  expect(screen.queryByText(/^Held-out loss has risen/)).toBeNull();
});

test('a run that trains says how far it is, and one on pictures shows its samples without a way to use them', async () => {
  const pictures = [{ url: 'data:,', width: 8, height: 8 }];
  const samples = {
    prompts: [{ prompt: 'a cat', seed: 7 }],
    checkpoints: [
      { step: 0, pictures },
      { step: 5, pictures },
    ],
  };
  await open({ ...run, trains: 'pictures', state: 'running', step: 5, summary: null, samples });
  expect(screen.getByText(/^Training run on pictures · /)).toBeTruthy();
  expect(valueOf('Steps')).toBe('5 of 20');
  expect(screen.getByRole('img', { name: 'a cat, step 5' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Use this checkpoint' })).toBeNull();
});

test('rows that may be shown stand there with both answers', async () => {
  const rows = [
    { question: 'Which bread?', earlier_turns: 0, expected: 'Rye.', base: 'None.', tuned: 'Rye.' },
  ];
  await open({ ...run, held_out_answers: { task: 'answer', rows, skipped: null } });
  expect(screen.getByText('Before and after training')).toBeTruthy();
  expect(screen.getByText('Which bread?')).toBeTruthy();
});

test('a model shows its card and size, and leads to its page where it is published', async () => {
  await open(model);
  expect(screen.getByText(/^Model · /).textContent).not.toContain('By');
  expect(await screen.findByText('Knows rye')).toBeTruthy();
  expect(await screen.findByRole('heading', { name: 'Rye' })).toBeTruthy();
  expect(valueOf('Size')).toBe('1.43 MB in 2 files');
  expect(screen.queryByRole('link')).toBeNull();
  cleanup();
  queryClient.clear();
  await open({ ...model, model_id: 'm1', made_from: { base_model: null, dataset: 'Facts' } });
  const link = screen.getByRole('link', { name: 'Open the model' });
  expect(link.getAttribute('href')).toBe('/model/m1/description');
  expect([valueOf('Base model'), valueOf('Dataset')]).toEqual(['A private model', 'Facts']);
});
