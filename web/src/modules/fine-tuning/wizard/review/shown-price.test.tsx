import { createAsset } from '@bakehouse/contract/assets';
import { validateFineTune } from '@bakehouse/contract/fine-tuning';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
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
vi.mock('./step-review.tsx', () => ({ StepReview: () => null }));
vi.mock('../create-model-result.tsx', () => ({ CreateModelResult: () => 'The end' }));
vi.mock('../use-lack-of-credit.ts', () => ({ useLackOfCredit: () => null }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../../readings/reading-calls.ts', () => ({
  useReading: () => null,
  stopReading: async () => undefined,
}));

let price: string;
let slowdown: number;
beforeEach(() => {
  price = '2.5';
  slowdown = 1.5;
  vi.mocked(call).mockImplementation((async (endpoint: unknown, { body }: { body: Body }) => {
    if (endpoint === validateFineTune)
      return { critical_errors: [], reading: null, cost_estimate: { quote: { total: price }, slowdown } };
    if (endpoint !== createAsset) throw new Error('nobody asks for this');
    if (body.fine_tune_payload.cost_max === price) return 'm1';
    throw new ApiError(`The price has changed: this run now costs ${price} BGL`, {
      status: 409,
      code: 'conflict',
      param: 'fine_tune_payload.cost_max',
    });
  }) as unknown as typeof call);
});

type Body = { fine_tune_payload: { cost_max: string; slowdown: number } };
const starts = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([endpoint]) => endpoint === createAsset)
    .map(([, input, options]) => {
      const { fine_tune_payload: asked } = (input as { body: Body }).body;
      return { cost_max: asked.cost_max, slowdown: asked.slowdown, key: options?.idempotencyKey };
    });
const start = () => screen.findByRole('button', { name: 'Start training' });

async function openParameters() {
  render(
    <QueryClientProvider client={queryClient}>
      <CreateModelSheet open dataset="d1" baseModel="b1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  const values = { name: 'My model', fileName: 'rows.txt' };
  act(() => shown.wizard?.dispatch({ do: 'change', values }));
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
}

async function openReview() {
  await openParameters();
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
}

it('the price of earlier parameters is hidden until that of the current ones is known', async () => {
  await openParameters();
  await screen.findByText('$0.10');
  price = '5';
  act(() => shown.wizard?.dispatch({ do: 'parameters', values: { epochs: 7 } }));
  await screen.findByText('Calculating the price…');
  expect(screen.queryByText('$0.10')).toBeNull();
  await screen.findByText('$0.20');
});

it('sends the displayed price as the maximum, with the displayed machine load', async () => {
  await openReview();
  await screen.findByText('$0.10');
  await userEvent.click(await start());
  await screen.findByText('The end');
  expect(starts()).toEqual([{ cost_max: '2.5', slowdown: 1.5, key: expect.any(String) }]);
});

it('a changed price is fetched again and shown, and the next start uses it', async () => {
  await openReview();
  price = '5';
  slowdown = 3;
  await userEvent.click(await start());
  await screen.findByText('$0.20');
  expect(screen.getByText(/The price has changed\./)).toBeTruthy();

  await userEvent.click(await start());
  await screen.findByText('The end');
  const [first, second] = starts();
  expect([first, second]).toMatchObject([
    { cost_max: '2.5', slowdown: 1.5 },
    { cost_max: '5', slowdown: 3 },
  ]);
  // The first call was answered without starting the run.
  expect(second?.key).not.toBe(first?.key);
});
