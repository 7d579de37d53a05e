import { quoteVllm } from '@bakehouse/contract/deployments/text';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { DeployDialog } from '../deploy/deploy-dialog.tsx';
import { sleepNote } from './sleeps-after.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../../machines/machine-queries.ts', () => ({ useMachine: () => ({ data: undefined }) }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => () => undefined,
}));

test.each([
  [30, 'After 30 minutes without a request it sleeps and costs nothing; the next request wakes it.'],
  [1, 'After 1 minute without a request it sleeps and costs nothing; the next request wakes it.'],
  [null, 'It never sleeps: you pay until you terminate it.'],
])('shows when a text model sleeps before it is deployed: %s', async (sleeps_after_minutes, sentence) => {
  queryClient.clear();
  vi.mocked(call).mockImplementation(async (endpoint: unknown) =>
    endpoint === quoteVllm
      ? { price_per_hour: '1', device: 'CPU', sleeps_after_minutes }
      : { datasets: [], next_cursor: null, dataset_id: 'm1', title: 'Crumb', file_count: 1, size_bytes: 1 },
  );
  render(
    <QueryClientProvider client={queryClient}>
      <DeployDialog family="text" chosen="m1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  expect((await screen.findByText(/^You pay for the time/)).textContent).toContain(sentence);
});

test('shows when a deployment sleeps, next to its last request', () => {
  expect(sleepNote(30)).toBe('Sleeps after 30 minutes without a request');
  expect(sleepNote(null)).toBe('Never sleeps');
});
