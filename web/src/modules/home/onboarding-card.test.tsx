import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';
import { queryClient } from '../../lib/query-client.ts';
import { deploymentListQuery } from '../deployments/api.ts';
import { OnboardingCard } from './onboarding-card.tsx';

const open = vi.fn<(name: string, params?: object) => void>();
const completed = { create_dataset: true, fine_tune_model: false, create_model: false };
vi.mock('../../lib/sheet.ts', () => ({ useSheets: () => ({ open }) }));
vi.mock('../../ui/button.tsx', async (original) => ({
  ...(await original<typeof import('../../ui/button.tsx')>()),
  ButtonLink: ({ to }: { to: string }) => <a href={to}>Start</a>,
}));
vi.mock('../accounts/api.ts', () => ({
  refreshSession: async () => null,
  useUser: () => ({
    id: 'u1',
    onboarding: {
      onboarding_completed: Object.values(completed).every(Boolean),
      steps: Object.fromEntries(Object.entries(completed).map(([id, done]) => [id, { completed: done }])),
    },
  }),
}));

beforeEach(() =>
  Object.assign(completed, { create_dataset: true, fine_tune_model: true, create_model: true }),
);

function show(lastRequests: (string | null)[]) {
  const pods = lastRequests.map((last_request_at) => ({ last_request_at }));
  queryClient.setQueryData(deploymentListQuery('u1', true).queryKey, {
    pages: [{ pods }],
    pageParams: [null],
  } as never);
  return render(
    <QueryClientProvider client={queryClient}>
      <OnboardingCard />
    </QueryClientProvider>,
  );
}

it('stays until a model has been asked something', () => {
  const { unmount } = show([null]);
  expect(screen.getByText('3 of 4')).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Start' }).getAttribute('href')).toBe('/my-deployments');
  unmount();
  expect(show([null, '2026-11-20T08:00:00.000Z']).container.textContent).toBe('');
});

it('opens the wizard with a fine-tune chosen', () => {
  Object.assign(completed, { fine_tune_model: false, create_model: false });
  show([]);
  screen.getByRole('button', { name: 'Start' }).click();
  expect(open).toHaveBeenCalledWith('create-model', { modelType: 'finetune' });
});
