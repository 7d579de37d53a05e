import { changeOnboarding } from '@bakehouse/contract/accounts';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { notify } from '../../ui/notify.ts';
import { assetListQuery } from '../datasets/asset-queries.ts';
import { deploymentListQuery } from '../deployments/deployment-lists.ts';
import { runListQuery } from '../fine-tuning/runs/run-queries.ts';
import { OnboardingCard } from './onboarding-card.tsx';

const open = vi.fn<(name: string, params?: object) => void>();
const makeExample = vi.fn<(userId: string, options?: { onSuccess: (id: string) => void }) => void>();
const navigate = vi.fn<(to: object) => void>();
const completed = { create_dataset: true, fine_tune_model: false, create_model: false };
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => navigate,
}));
vi.mock('../../lib/sheet.ts', () => ({ useSheets: () => ({ open }) }));
vi.mock('../../ui/button.tsx', async (original) => ({
  ...(await original<typeof import('../../ui/button.tsx')>()),
  ButtonLink: ({ to, params, children }: { to: string; params?: { id: string }; children: ReactNode }) => (
    <a href={to.replace('$id', params?.id ?? '')}>{children}</a>
  ),
}));
vi.mock('./use-example-dataset.ts', () => ({
  useExampleDataset: () => ({ mutate: makeExample, isPending: false }),
}));
vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>(async () => undefined as never) }));
vi.mock('../accounts/session.ts', () => ({
  refreshUser: async () => undefined,
  useUser: () => ({
    id: 'u1',
    onboarding: {
      onboarding_completed: Object.values(completed).every(Boolean),
      steps: Object.fromEntries(Object.entries(completed).map(([id, done]) => [id, { completed: done }])),
      dismissed: false,
    },
  }),
}));

beforeEach(() =>
  Object.assign(completed, { create_dataset: true, fine_tune_model: true, create_model: true }),
);

function show(
  lastRequests: (string | null)[],
  datasets: { dataset_id: string; file_count: number }[] = [],
  runs: { run_id: string; state: string }[] = [],
) {
  const deployments = lastRequests.map((last_request_at) => ({ last_request_at }));
  queryClient.setQueryData(deploymentListQuery('text', 'u1', { status: 'all' }).queryKey, {
    pages: [{ deployments }],
    pageParams: [null],
  } as never);
  queryClient.setQueryData(assetListQuery('u1', { types: 'RAW' }).queryKey, {
    pages: [{ datasets }],
    pageParams: [null],
  } as never);
  queryClient.setQueryData(runListQuery.queryKey, { pages: [{ runs }], pageParams: [null] } as never);
  return render(
    <QueryClientProvider client={queryClient}>
      <OnboardingCard />
    </QueryClientProvider>,
  );
}

it('stays until a model has been used', () => {
  const { unmount } = show([null]);
  expect(screen.getByText('3 of 4')).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Start' }).getAttribute('href')).toBe('/my-deployments');
  unmount();
  expect(show([null, '2026-11-20T08:00:00.000Z']).container.textContent).toBe('');
});

it('opens the wizard with fine-tuning selected', () => {
  Object.assign(completed, { fine_tune_model: false, create_model: false });
  show([]);
  screen.getByRole('button', { name: 'Start' }).click();
  expect(open).toHaveBeenCalledWith('create-model', { modelType: 'finetune' });
});

it('opens it with the newest dataset that has files', () => {
  Object.assign(completed, { fine_tune_model: false, create_model: false });
  show(
    [],
    [
      { dataset_id: 'empty', file_count: 0 },
      { dataset_id: 'full', file_count: 1 },
    ],
  );
  screen.getByRole('button', { name: 'Start' }).click();
  expect(open).toHaveBeenCalledWith('create-model', { modelType: 'finetune', dataset: 'full' });
});

it('links to the current run instead of starting another one', () => {
  Object.assign(completed, { fine_tune_model: false, create_model: false });
  show(
    [],
    [],
    [
      { run_id: 'failed', state: 'failed' },
      { run_id: 'r1', state: 'queued' },
    ],
  );
  expect(screen.queryByRole('button', { name: 'Start' })).toBeNull();
  expect(screen.getByRole('link', { name: 'View run' }).getAttribute('href')).toBe('/runs/r1');
});

it('offers an example to users without data, and opens it', () => {
  Object.assign(completed, { create_dataset: false, fine_tune_model: false, create_model: false });
  show([]);
  screen.getByRole('button', { name: 'Use an example' }).click();
  expect(makeExample).toHaveBeenCalledExactlyOnceWith('u1', expect.anything());
  makeExample.mock.calls[0]?.[1]?.onSuccess('d1');
  expect(navigate).toHaveBeenCalledWith({ to: '/dataset/$id/description', params: { id: 'd1' } });
});

it('can be dismissed, and restored from the toast', async () => {
  const notified = vi.spyOn(notify, 'info').mockReturnValue(undefined);
  const { unmount } = show([null]);
  screen.getByRole('button', { name: 'Hide Get started' }).click();
  const sent = () =>
    vi
      .mocked(call)
      .mock.calls.filter(([endpoint]) => endpoint === changeOnboarding)
      .map(([, input]) => input?.body);
  await waitFor(() => expect(notified).toHaveBeenCalledTimes(1));
  notified.mock.calls[0]?.[1]?.action?.onClick();
  await waitFor(() => expect(sent()).toEqual([{ dismissed: true }, { dismissed: false }]));
  unmount();
});
