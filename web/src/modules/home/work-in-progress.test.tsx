import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { WorkInProgress } from './work-in-progress.tsx';

vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  useLocation: () => '/dashboard',
  Link: ({ children }: { children: ReactNode }) => <a href="/">{children}</a>,
}));
vi.mock('../accounts/session.ts', async (original) => ({
  ...(await original<object>()),
  useUser: () => ({ id: 'u1' }),
}));

afterEach(() => {
  queryClient.clear();
  vi.unstubAllGlobals();
});

/** Fakes the server's list of work. */
function serve(work: object) {
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  const none = { runs: [], deployments: [], generations: [], points: [], next_cursor: null };
  const fetched = vi.fn(async (url: string) =>
    Response.json(url.endsWith('/api/v1/work') ? { ...none, ...work } : none),
  );
  vi.stubGlobal('fetch', fetched);
  return fetched;
}

const show = () =>
  render(
    <QueryClientProvider client={queryClient}>
      <WorkInProgress />
    </QueryClientProvider>,
  );

const starting = {
  ...{
    kind: 'text',
    pod_id: 'p1',
    title: 'Rye Chat',
    status: 'deploying',
    reason: 'Loading the weights',
    progress: 40,
  },
  ...{ ready_at: null, terminated_at: null, stop_reason: null, cost_so_far: '0' },
};
const picture = {
  ...{
    id: 'g1',
    prompt: 'a loaf of bread',
    provider: 'own',
    generator: 'paris',
    state: 'running',
    reason: '',
  },
  ...{ step: 2, steps: 8 },
};

test('shows the progress of starting deployments of every kind and of pictures', async () => {
  serve({
    deployments: [
      starting,
      { ...starting, pod_id: 'p2', title: 'Awake', ready_at: '2026-01-01T00:00:00Z' },
      { ...starting, kind: 'flux-kontext', pod_id: 'p3', title: 'Rye Painter' },
    ],
    generations: [picture],
  });
  show();
  await screen.findByRole('heading', { name: 'In progress' });
  await screen.findByText('a loaf of bread');
  await screen.findByText('Rye Painter');
  const bars = screen.getAllByRole('progressbar').map((bar) => bar.getAttribute('aria-valuenow'));
  expect(bars.toSorted((a, b) => Number(a) - Number(b))).toEqual(['25', '40', '40']);
  expect(screen.getAllByText('Loading the weights')).toHaveLength(2);
  expect(screen.queryByText('Awake')).toBeNull();
  expect(screen.getByRole('button', { name: 'Cancel Rye Chat' })).toBeTruthy();
});

test('shows no card if no work is in progress', async () => {
  const fetched = serve({});
  const { container } = show();
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  expect(fetched).toHaveBeenCalled();
  expect(container.textContent).toBe('');
});
