import { createAsset } from '@bakehouse/contract/assets';
import { validateFineTune } from '@bakehouse/contract/fine-tuning';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ComponentType } from 'react';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { queryClient } from '../../../../lib/api/query-client.ts';
import { notifyFailures } from '../../../../ui/notify-failure.ts';
import { CreateModelSheet } from '../create-model-sheet.tsx';
import type { Wizard } from '../wizard-state.ts';

const shown = vi.hoisted(() => ({ wizard: null as Wizard | null, lack: null as string | null }));
const toast = vi.hoisted(() => ({ error: vi.fn<() => void>(), dismiss: vi.fn<() => void>() }));
vi.mock('sonner', () => ({ toast }));
vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('@tanstack/react-router', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  createLink:
    (Component: ComponentType<{ href: string }>) =>
    ({ to, ...props }: { to: string }) => <Component href={to} {...props} />,
}));
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
vi.mock('./cost-estimate.tsx', () => ({ CostEstimate: () => null }));
vi.mock('./recommended-gpus.tsx', () => ({ RecommendedGpus: () => null }));
vi.mock('../use-lack-of-credit.ts', () => ({ useLackOfCredit: () => shown.lack }));
vi.mock('../../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
vi.mock('../../readings/reading-calls.ts', () => ({
  useReading: () => null,
  stopReading: async () => undefined,
}));

const checked = {
  critical_errors: [],
  reading: null,
  data: null,
  warnings: [],
  placement: { device: 'cpu', description: 'Here' },
  recommendations: { recommended_gpus: [] },
  cost_estimate: { quote: { total: '2.5' }, ceiling: '3.75', duration_hours: 0.1, slowdown: 1 },
};
/** Successive responses to the calls that start a run. */
let answers: (string | Error)[];
notifyFailures(queryClient);
beforeEach(() => {
  cleanup();
  vi.clearAllMocks();
  shown.lack = null;
  vi.mocked(call)
    .mockReset()
    .mockImplementation(async (endpoint: unknown) => {
      if (endpoint === validateFineTune) return checked;
      const answer = endpoint === createAsset ? answers.shift() : null;
      if (typeof answer !== 'string') throw answer ?? new Error('nobody asks for this');
      return answer;
    });
});

const keys = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([endpoint]) => endpoint === createAsset)
    .map(([, , options]) => options?.idempotencyKey);
const start = async () => userEvent.click(await screen.findByRole('button', { name: 'Start training' }));
const goOn = () => userEvent.click(screen.getByRole('button', { name: 'Continue' }));
const twice = /trying again won’t start it a second time/;

async function openReview() {
  render(
    <QueryClientProvider client={queryClient}>
      <CreateModelSheet open dataset="d1" baseModel="b1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  await fillIn();
}

async function fillIn() {
  act(() => shown.wizard?.dispatch({ do: 'change', values: { name: 'My model', fileName: 'rows.txt' } }));
  for (let step = 2; step < 5; step += 1) await goOn();
}

it.each([
  new ApiError('Request timeout after 120000ms', { status: 0, code: 'timeout' }),
  new ApiError('Request Timeout', { status: 408 }),
  new ApiError('Bad gateway', { status: 502 }),
])('after a lost response, keeps all input, and a retry starts the same run: %s', async (lost) => {
  answers = [lost, 'm1'];
  await openReview();
  await start();
  await screen.findByText(twice);
  expect(screen.queryByText('Oops! Something went wrong')).toBeNull();
  // Missing credit doesn't block the retry: the hold of a run that has started may be the cause.
  shown.lack = 'Insufficient balance';
  await start();
  await screen.findByText('Your model is fine-tuning!');
  const [first, second] = keys();
  expect(second).toBe(first);
});

it('Back and Continue retry the same run, but changed choices start another run', async () => {
  const lost = new ApiError('The server cannot be reached.', { status: 0, code: 'network' });
  answers = [lost, lost, 'm1'];
  await openReview();
  await start();
  await screen.findByText(twice);
  await userEvent.click(screen.getByRole('button', { name: 'Back' }));
  await goOn();
  await screen.findByText(twice);
  await start();
  await vi.waitFor(() => expect(keys()).toHaveLength(2));
  act(() => shown.wizard?.dispatch({ do: 'ceiling', ceiling: '2' }));
  await screen.findByText(/starting again creates a second run/);
  await start();
  await screen.findByText('Your model is fine-tuning!');
  const [first, second, third] = keys();
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

it('shows a rejection as a toast and on the error screen, and Try Again resets everything', async () => {
  answers = [new ApiError('Model name is taken', { status: 409, code: 'conflict' }), 'm1'];
  await openReview();
  const beginning = { ...shown.wizard?.state, step: 'details', name: '', fileName: null };
  toast.dismiss.mockClear();
  await start();
  await screen.findByText('Oops! Something went wrong');
  expect(toast.error).toHaveBeenCalledExactlyOnceWith('Model name is taken', expect.anything());
  expect(toast.dismiss).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole('button', { name: 'Try Again' }));
  expect(shown.wizard?.state).toEqual(beginning);
  expect(shown.wizard?.validation).toBeUndefined();
  await vi.waitFor(() => expect(toast.dismiss).toHaveBeenCalled());
  expect(shown.wizard?.mayHaveBegun).toBeNull();
  await fillIn();
  await start();
  await screen.findByText('Your model is fine-tuning!');
  const [first, second] = keys();
  expect(second).not.toBe(first);
});

const chooseCeiling = (ceiling: string) => act(() => shown.wizard?.dispatch({ do: 'ceiling', ceiling }));
const tooLittle = new ApiError('Insufficient balance', { status: 402, code: 'insufficient_funds' });
const away = new ApiError('The server cannot be reached.', { status: 0, code: 'network' });

it('a rejected choice gets a new key, even after another choice lost its response', async () => {
  answers = [tooLittle, away, 'm1'];
  await openReview();
  await start();
  await vi.waitFor(() => expect(keys()).toHaveLength(1));
  chooseCeiling('2');
  await start();
  await screen.findByText(twice);
  shown.lack = 'Insufficient balance';
  chooseCeiling('');
  await screen.findByText(/starting again creates a second run/);
  expect(shown.wizard?.canStart).toBe(false);
  shown.lack = null;
  chooseCeiling('');
  await start();
  await screen.findByText('Your model is fine-tuning!');
  expect(new Set(keys()).size).toBe(3);
});

it('a choice whose response was lost is still reported after another was rejected', async () => {
  answers = [away, tooLittle, 'm1'];
  await openReview();
  await start();
  await screen.findByText(twice);
  chooseCeiling('2');
  await start();
  await vi.waitFor(() => expect(keys()).toHaveLength(2));
  await screen.findByText(/starting again creates a second run/);
  chooseCeiling('');
  await screen.findByText(twice);
  await start();
  await screen.findByText('Your model is fine-tuning!');
  const [first, , third] = keys();
  expect(third).toBe(first);
});

it('a rate-limited retry after a lost response keeps the key', async () => {
  answers = [away, new ApiError('Too many calls', { status: 429 }), 'm1'];
  await openReview();
  await start();
  await screen.findByText(twice);
  await start();
  await userEvent.click(await screen.findByRole('button', { name: 'Try Again' }));
  await fillIn();
  await screen.findByText(twice);
  await start();
  await screen.findByText('Your model is fine-tuning!');
  expect(new Set(keys()).size).toBe(1);
});
