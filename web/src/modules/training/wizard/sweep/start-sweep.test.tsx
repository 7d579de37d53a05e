import { createAsset } from '@bakehouse/contract/assets';
import { quoteSweep, startSweep } from '@bakehouse/contract/sweeps';
import { validateFineTune } from '@bakehouse/contract/training';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { CreateModelSheet } from '../create-model-sheet.tsx';
import type { Wizard } from '../wizard-state.ts';

const shown = vi.hoisted(() => ({ wizard: null as Wizard | null }));
vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../use-create-model.ts', async (original) => {
  const { useCreateModel } = await original<typeof import('../use-create-model.ts')>();
  return {
    useCreateModel: (...preset: Parameters<typeof useCreateModel>) => {
      shown.wizard = useCreateModel(...preset);
      return shown.wizard;
    },
  };
});
vi.mock('../steps/step-details.tsx', () => ({ StepDetails: () => null }));
vi.mock('../steps/step-selection.tsx', () => ({ StepSelection: () => null }));
vi.mock('../steps/step-parameters.tsx', () => ({ StepParameters: () => null }));
vi.mock('../review/step-review.tsx', () => ({ StepReview: () => null }));
vi.mock('../create-model-result.tsx', () => ({
  CreateModelResult: ({ wizard }: { wizard: Wizard }) => `The end of ${wizard.sweepId}`,
}));
vi.mock('../use-lack-of-credit.ts', () => ({ useLackOfCredit: () => null }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../../readings/reading-calls.ts', () => ({
  useReading: () => null,
  stopReading: async () => undefined,
}));

const next = () => userEvent.click(screen.getByRole('button', { name: 'Continue' }));
const callsOf = (endpoint: unknown) => vi.mocked(call).mock.calls.filter(([one]) => one === endpoint);

it('a sweep is quoted and started as one, with what the review has shown; a single run is not', async () => {
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint === startSweep) return { sweep_id: 's1', run_ids: ['r1', 'r2'] };
    if (endpoint !== quoteSweep) throw new Error('nobody asks for this');
    return {
      ...{ critical_errors: [], reading: null, runs: [{ cost: '1' }, { cost: '1.5' }] },
      cost_estimate: { quote: { total: '2.5' }, slowdown: 1.5 },
    };
  });
  render(
    <QueryClientProvider client={queryClient}>
      <CreateModelSheet open dataset="d1" baseModel="b1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  const values = {
    ...{ name: 'My model', fileName: 'rows.txt' },
    sweep: [{ parameter: 'lora_r', values: '4, 512' }] as const,
  };
  act(() => shown.wizard?.dispatch({ do: 'change', values }));
  await next();
  await next();
  await next();
  expect(shown.wizard?.problems).toEqual({ sweep: 'LoRA rank must be at most 256' });
  expect(callsOf(quoteSweep)).toEqual([]);

  const sweep = [{ parameter: 'lora_r', values: '4, 8' }] as const;
  act(() => shown.wizard?.dispatch({ do: 'change', values: { sweep } }));
  await next();
  await screen.findByRole('button', { name: 'Start 2 runs' });
  act(() => shown.wizard?.dispatch({ do: 'ceiling', ceiling: '1.25' }));
  expect(screen.getByText(/^Held at start/).textContent).toContain('0.09');
  await userEvent.click(await screen.findByRole('button', { name: 'Start 2 runs' }));
  await screen.findByText('The end of s1');
  const axes = [{ parameter: 'lora_r', values: [4, 8] }];
  const payload = { asset_id: 'd1', base_model: 'b1', file_name: 'rows.txt' };
  expect(callsOf(quoteSweep)).toMatchObject([[{}, { body: { axes, fine_tune_payload: payload } }, {}]]);
  const agreed = { ...payload, ceiling: '1.25', cost_max: '2.5', slowdown: 1.5 };
  expect(callsOf(startSweep)).toMatchObject([
    [
      {},
      { body: { title: 'My model', axes, fine_tune_payload: agreed } },
      { idempotencyKey: expect.any(String) },
    ],
  ]);
  expect([...callsOf(validateFineTune), ...callsOf(createAsset)]).toEqual([]);
});
