import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { initialState, type WizardAction } from '../wizard-state.ts';
import { RunSummary } from './run-summary.tsx';

const validation = {
  cost_estimate: { quote: { total: '0.25', items: [] }, ceiling: '0.5', duration_hours: 8 / 60 },
  data: { train_examples: 24, eval_examples: 6 },
  placement: { device: 'cpu', gpu_type: null },
  reading: null,
} as unknown as FineTuneValidation;

it('shows what is trained and its maximum cost, and leads to the step of a choice', async () => {
  const dispatch = vi.fn<(action: WizardAction) => void>();
  const state = { ...initialState, name: 'Crumb', hubModelId: 'crust/loaf', fileName: 'facts.csv' };
  const { container } = render(
    <QueryClientProvider client={queryClient}>
      <RunSummary wizard={{ state, dispatch }} validation={validation} />
    </QueryClientProvider>,
  );
  const rows = [...container.querySelectorAll('dl > div')].map((row) =>
    [...row.querySelectorAll('dt, dd > span')].map(({ textContent }) => textContent).join(': '),
  );
  expect(rows).toEqual([
    'Model: Crumb',
    'Base: crust/loaf',
    'File: facts.csv',
    'Data: 30 examples',
    'Epochs: 1',
    'Runs on: This machine’s CPU',
    'Time: About 8 min',
    'Cost: About $0.01',
  ]);
  expect(screen.getByText('You pay for the time used, never more than $0.02.')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Edit: Runs on' })).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Edit: Epochs' }));
  expect(dispatch).toHaveBeenCalledWith({ do: 'back', to: 'parameters' });
});

it('shows the GPU that the run goes to, also if another one was requested', () => {
  const placement = { device: 'gpu', gpu_type: 'NVIDIA_TESLA_A100', description: '' } as const;
  render(
    <QueryClientProvider client={queryClient}>
      <RunSummary
        wizard={{ state: initialState, dispatch: vi.fn() }}
        validation={{ ...validation, placement }}
      />
    </QueryClientProvider>,
  );
  expect(screen.getByText('NVIDIA Tesla A100 (40GB)')).toBeTruthy();
  expect(screen.getByRole('button', { name: 'Edit: Runs on' })).toBeTruthy();
});
