import { type AssetSummary, getAsset } from '@bakehouse/contract/assets';
import { imageCalls } from '@bakehouse/contract/deployments/images';
import { quoteVllm } from '@bakehouse/contract/deployments/text';
import { instanceGpus } from '@bakehouse/contract/limits';
import { getMachine } from '@bakehouse/contract/machines';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { DeployDialog } from './deploy-dialog.tsx';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../accounts/session.ts', () => ({ useUser: () => ({ id: 'u1' }) }));
const models = ['FluxPipeline', 'FluxKontextPipeline', 'DDMPipeline', null];
vi.mock('../../datasets/choice/asset-field.tsx', async (original) => ({
  ...(await original<object>()),
  AssetField: ({ value, fits }: { value: string | null; fits: (model: AssetSummary) => boolean }) => (
    <>
      {models.filter((pipeline) => fits({ pipeline } as AssetSummary)).join(' ')}
      <output>{value ?? 'none'}</output>
    </>
  ),
}));
vi.mock('../output-price.tsx', () => ({ OutputPrice: () => null }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => () => Promise.resolve(),
}));

const editor = { dataset_id: 'm1', pipeline: 'FluxKontextPipeline' };

it('deploys at the displayed price; reloads and announces a changed price', async () => {
  let price_per_hour = '12.5';
  vi.mocked(call).mockImplementation(async (endpoint: unknown, input?: { body?: unknown }) => {
    if (endpoint === imageCalls['flux-kontext'].quote)
      return { price_per_hour, device: 'CPU', title: 'My Editor', licence: null, sleeps_after_minutes: 45 };
    if (endpoint === getAsset) return editor;
    if (endpoint !== imageCalls['flux-kontext'].deploy) return new Promise(() => undefined);
    if ((input?.body as { cost_max?: string } | undefined)?.cost_max === price_per_hour)
      return { pod_id: 'p1' };
    throw new ApiError('The price has changed', { status: 409, code: 'conflict', param: 'cost_max' });
  });
  render(
    <QueryClientProvider client={queryClient}>
      <DeployDialog family="image" chosen="m1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  const price = () => screen.findByText(/per hour/);
  expect((await price()).textContent).toBe('$0.50 per hour plus pictures; an hour is held');
  expect(screen.getByText(/After 45 minutes without a request it sleeps and costs nothing/)).toBeTruthy();
  price_per_hour = '25';
  const deploy = () => userEvent.click(screen.getByRole('button', { name: 'Deploy' }));
  await deploy();
  await screen.findByText('The price has changed:');
  expect((await price()).textContent).toBe(
    'The price has changed: $1.00 per hour plus pictures; an hour is held',
  );

  await deploy();
  const sent = vi
    .mocked(call)
    .mock.calls.filter(([endpoint]) => endpoint === imageCalls['flux-kontext'].deploy)
    .map(([, input]) => (input as { body: { cost_max: string } }).body.cost_max);
  expect(sent).toEqual(['12.5', '25']);
});

it('notes that a machine without GPUs uses the CPU, and offers no GPU', async () => {
  queryClient.clear();
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint === getMachine) return { accelerators: [] };
    return endpoint === getAsset ? editor : new Promise(() => undefined);
  });
  render(
    <QueryClientProvider client={queryClient}>
      <DeployDialog family="image" chosen="m1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  await screen.findByText('This machine’s CPU');
  expect(screen.queryByRole('combobox', { name: 'GPU' })).toBeNull();
});

it('offers several GPUs for text if one machine has them, each at its price', async () => {
  queryClient.clear();
  const accelerators = [{ gpu_type: instanceGpus.a100, label: 'NVIDIA Tesla A100 (40GB)', count: 4 }];
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint === getMachine) return { accelerators };
    return endpoint === getAsset ? { ...editor, pipeline: null } : new Promise(() => undefined);
  });
  const open = (family: 'text' | 'image') =>
    render(
      <QueryClientProvider client={queryClient}>
        <DeployDialog family={family} chosen="m1" onClose={() => undefined} />
      </QueryClientProvider>,
    );
  const image = open('image');
  await screen.findByRole('combobox', { name: 'GPU' });
  expect(screen.queryByRole('group', { name: 'Number of GPUs' })).toBeNull();
  image.unmount();
  open('text');
  const counts = await screen.findByRole('group', { name: 'Number of GPUs' });
  expect([...counts.querySelectorAll('button')].map(({ textContent }) => textContent)).toEqual([
    '1',
    '2',
    '4',
  ]);
  await userEvent.click(screen.getByRole('button', { name: '2' }));
  await vi.waitFor(() =>
    expect(call).toHaveBeenCalledWith(
      quoteVllm,
      { body: expect.objectContaining({ instance_type: 'a100', gpu_count: 2 }) },
      expect.anything(),
    ),
  );
});

it('explains why there is no price, and retries', async () => {
  queryClient.clear();
  let answer: () => object = () => {
    throw new ApiError('The price list is away', { status: 409 });
  };
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint === getAsset) return editor;
    return endpoint === imageCalls['flux-kontext'].quote ? answer() : new Promise(() => undefined);
  });
  render(
    <QueryClientProvider client={queryClient}>
      <DeployDialog family="image" chosen="m1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  await screen.findByText('The price list is away');
  expect(screen.queryByRole('button', { name: 'Deploy' })).toBeNull();
  answer = () => ({
    price_per_hour: '12.5',
    device: 'CPU',
    title: 'My Editor',
    licence: null,
    sleeps_after_minutes: 45,
  });
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await screen.findByText('$0.50');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Deploy' }).disabled).toBe(false);
});

it('redeploys a deployment as the same kind', async () => {
  queryClient.clear();
  vi.mocked(call).mockImplementation(async (endpoint: unknown) =>
    endpoint === imageCalls.flux.quote
      ? { price_per_hour: '25', device: 'CPU', title: 'My Painter', licence: null, sleeps_after_minutes: 45 }
      : new Promise(() => undefined),
  );
  render(
    <QueryClientProvider client={queryClient}>
      <DeployDialog family="image" chosen="m1" chosenKind="flux" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  await screen.findByText('$1.00');
  expect(screen.getByRole('radio', { name: 'FLUX', checked: true })).toBeTruthy();
});

it('offers models that fit the kind, and clears a choice that does not', async () => {
  queryClient.clear();
  const painter = { dataset_id: 'm1', pipeline: 'FluxPipeline' };
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint === getAsset) return painter;
    return endpoint === imageCalls.flux.quote
      ? { price_per_hour: '25', device: 'CPU', title: 'My Painter', licence: null, sleeps_after_minutes: 45 }
      : new Promise(() => undefined);
  });
  render(
    <QueryClientProvider client={queryClient}>
      <DeployDialog family="image" chosen="m1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
  await screen.findByText('$1.00');
  expect(screen.getByRole('radio', { name: 'FLUX', checked: true })).toBeTruthy();
  expect(screen.getByText('FluxPipeline FluxKontextPipeline')).toBeTruthy();
  expect(screen.getByText('m1')).toBeTruthy();

  await userEvent.click(screen.getByRole('radio', { name: 'Paris' }));
  expect(screen.getByText('DDMPipeline')).toBeTruthy();
  await userEvent.click(screen.getByRole('radio', { name: 'Kontext' }));
  expect(screen.getByText('FluxKontextPipeline')).toBeTruthy();
  expect(screen.getByText('none')).toBeTruthy();
});
