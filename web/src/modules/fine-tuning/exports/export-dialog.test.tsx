import { listExports, type OfferedExport, startExport } from '@bakehouse/contract/exports';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { ExportDialog } from './export-dialog.tsx';

const navigate = vi.fn<(to: object) => Promise<void>>();
vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => navigate,
}));

const offer = (format: OfferedExport['format'], obstacle: string | null = null): OfferedExport => ({
  ...{ format, obstacle, size_bytes: 144_000_000 },
  quote: { items: [], total: '2.5', total_usd: '0.10' },
});

let offered: { obstacle: string | null; exports: OfferedExport[] };
let refusal: ApiError | null;
beforeEach(() => {
  queryClient.clear();
  navigate.mockReset();
  refusal = null;
  offered = { obstacle: null, exports: [offer('safetensors'), offer('gguf_f16'), offer('gguf_q8_0')] };
  vi.mocked(call).mockReset();
  vi.mocked(call).mockImplementation(async (endpoint: unknown) => {
    if (endpoint === listExports) return offered;
    if (refusal) throw refusal;
    return { run_id: 'r1', model_id: 'm2' };
  });
});

function open() {
  render(
    <QueryClientProvider client={queryClient}>
      <ExportDialog modelId="m1" onClose={() => undefined} />
    </QueryClientProvider>,
  );
}
const starts = () =>
  vi
    .mocked(call)
    .mock.calls.filter(([endpoint]) => endpoint === startExport)
    .map(([, input, options]) => ({ ...input, key: options?.idempotencyKey }));
const start = () => userEvent.click(screen.getByRole('button', { name: 'Start' }));

it('starts the chosen format at the shown price and links to its run', async () => {
  open();
  await userEvent.click(await screen.findByRole('radio', { name: 'GGUF Q8_0' }));
  expect(screen.getByText(/You pay only for the time it takes/).textContent).toContain('$0.10');
  await start();
  const body = { format: 'gguf_q8_0', cost_max: '2.5' };
  expect(starts()).toEqual([{ params: { id: 'm1' }, body, key: expect.any(String) }]);
  await vi.waitFor(() =>
    expect(navigate).toHaveBeenCalledExactlyOnceWith({ to: '/runs/$id', params: { id: 'r1' } }),
  );
});

it('shows why a format is unavailable and disables it', async () => {
  offered.exports[1] = offer('gguf_f16', 'The base has no GGUF file');
  open();
  const radio = await screen.findByRole('radio', { name: 'GGUF F16' });
  expect(radio.getAttribute('aria-disabled') ?? radio.getAttribute('data-disabled')).not.toBeNull();
  expect(screen.getByText('The base has no GGUF file.')).toBeTruthy();
});

it('shows why a model cannot be exported at all', async () => {
  offered = { obstacle: 'The base was deleted', exports: [] };
  open();
  expect(await screen.findByText('The base was deleted.')).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Start' }).disabled).toBe(true);
});

it('shows a rejection and stays open', async () => {
  refusal = new ApiError('Not enough credits', { status: 402, code: 'insufficient_funds' });
  open();
  await screen.findByRole('radio', { name: 'safetensors' });
  await start();
  expect(await screen.findByText(/Not enough credits/)).toBeTruthy();
  expect(navigate).not.toHaveBeenCalled();
});
