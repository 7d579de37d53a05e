import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, renderHook, screen, waitFor } from '@testing-library/react';
import type { ReactElement, ReactNode } from 'react';
import { beforeEach, describe, expect, it, test, vi } from 'vitest';
import { call } from './lib/api/api-client.ts';
import { ApiError } from './lib/api/api-error.ts';
import { errorText } from './lib/api/error-text.ts';
import { queryClient } from './lib/api/query-client.ts';
import { TransferFailed, TransferSuccessful } from './modules/billing/send/send-result.tsx';
import { NoTransactions } from './modules/billing/statement/list-states.tsx';
import { CreateDatasetSheet } from './modules/datasets/create-dataset-sheet.tsx';
import { FileTable } from './modules/datasets/files/file-table.tsx';
import { ConfigurationDialog } from './modules/fine-tuning/configurations/configuration-dialog.tsx';
import type { ModelType } from './modules/fine-tuning/parameters/training-parameters.ts';
import { CreateModelResult } from './modules/fine-tuning/wizard/create-model-result.tsx';
import { BaseModelField } from './modules/fine-tuning/wizard/steps/base-model-field.tsx';
import { initialState } from './modules/fine-tuning/wizard/wizard-state.ts';
import { useDeleteGeneration } from './modules/gallery/deletion-calls.ts';
import { generationOf } from './modules/gallery/testing/generation-of.ts';
import { BonusDialog } from './modules/referrals/bonus-dialog.tsx';
import { notify } from './ui/notify.ts';
import { notifyFailures } from './ui/notify-failure.ts';

vi.mock('./modules/accounts/session.ts', async (original) => ({
  ...(await original<typeof import('./modules/accounts/session.ts')>()),
  useUser: () => ({ id: 'u1' }),
}));
vi.mock('./lib/api/api-client.ts', async (original) => ({
  ...(await original<typeof import('./lib/api/api-client.ts')>()),
  call: vi.fn<typeof call>(),
}));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<typeof import('@tanstack/react-router')>()),
  useNavigate: () => () => undefined,
}));
vi.mock('./ui/button.tsx', async (original) => ({
  ...(await original<typeof import('./ui/button.tsx')>()),
  ButtonLink: ({ to, children }: { to: string; children: string }) => <a href={to}>{children}</a>,
}));

beforeEach(() => {
  queryClient.clear();
  vi.mocked(call).mockReset().mockResolvedValue({});
});

notifyFailures(queryClient);
const nothing = () => undefined;
const refusal = (message: string) => new ApiError(message, { status: 400, code: 'invalid_request' });
const resultOf = (type: ModelType, made: { modelId?: null; error?: Error } = {}) => (
  <CreateModelResult
    key=""
    wizard={{
      state: { ...initialState, type, name: 'Loaf' },
      ...{ modelId: 'm1', error: null, uploads: [], tryAgain: nothing, ...made },
    }}
    onClose={nothing}
  />
);

/** Visible texts of a component, with the responses of its server. */
const seen: [sentences: string[], component: ReactElement, answer?: unknown][] = [
  [['Your Model is Ready!', 'Manage Model', 'Close'], resultOf('upload'), { train: null, deploy: null }],
  [
    [
      'Your model is fine-tuning!',
      'Waiting for the CPU, number 2 in line.',
      'Training progress',
      '0%',
      'Manage Model',
      'Close',
    ],
    resultOf('finetune'),
    {
      lineage: { run_id: 'r1' },
      ...{ state: 'queued', phase: null, step: 0, reason: 'Waiting for the CPU, number 2 in line.' },
      ...{ title: 'Loaf', stop_reason: null, charged: '0', progress: 0 },
    },
  ],
  [
    ['Training Rye failed', 'It ran out of memory. You were not charged.', 'View run'],
    resultOf('finetune'),
    {
      lineage: { run_id: 'r1' },
      ...{ state: 'failed', title: 'Rye', reason: 'It ran out of memory', stop_reason: null, charged: '0' },
    },
  ],
  [
    ['Oops! Something went wrong', 'We encountered an error while processing your request.', 'Try Again'],
    resultOf('upload', { modelId: null }),
  ],
  [
    ['Oops! Something went wrong', 'Model name is taken'],
    resultOf('upload', { error: refusal('Model name is taken') }),
  ],
  [
    ['Configuration Templates', 'Cancel', 'Apply'],
    <ConfigurationDialog key="" onClose={nothing} onApply={nothing} />,
    { configurations: [] },
  ],
  [['Transfer Successful', 'bob'], <TransferSuccessful key="" sent={{ recipient_id: 'bob', amount: '5' }} />],
  [
    ['Transfer Failed', 'Failed to transfer Bagels. Please check the recipient username and try again.'],
    <TransferFailed key="" error={new ApiError('No such user', { status: 404, code: 'not_found' })} />,
  ],
  [
    [
      'We encountered an issue: Invalid code or reached maximum limit of invites. Please try again later or contact support if the problem persists.',
      'Go to Dashboard',
    ],
    <BonusDialog key="" welcome={{ kind: 'refused' }} />,
  ],
  [['No transactions found'], <NoTransactions key="" filtered={false} showAll={null} />],
];

describe('texts on the screen', () => {
  test.each(seen.map((row) => [row[0].join(', '), row] as const))('%s', async (_name, row) => {
    const [sentences, component, answer] = row;
    if (answer) vi.mocked(call).mockResolvedValue(answer);
    render(<QueryClientProvider client={queryClient}>{component}</QueryClientProvider>);
    for (const sentence of sentences) expect((await screen.findAllByText(sentence)).length).toBe(1);
  });
});

test.each([
  'create model',
  'validate parameters',
  'deploy model',
  'fetch deployments',
  'terminate deployment',
])('Failed to %s if the response has no message', (operation) => {
  expect(errorText({}, undefined, operation)).toBe(`Failed to ${operation}`);
});

describe('Create Dataset', () => {
  const create = async (answer: () => Promise<unknown>, category: string | null = 'Book') => {
    vi.mocked(call).mockImplementation(answer);
    render(
      <QueryClientProvider client={queryClient}>
        <CreateDatasetSheet open onClose={nothing} />
      </QueryClientProvider>,
    );
    fireEvent.change(await screen.findByLabelText('Name'), { target: { value: 'Rye' } });
    if (category !== null) {
      fireEvent.click(screen.getByRole('button', { name: 'More' }));
      fireEvent.click(screen.getByRole('combobox', { name: 'Category' }));
      fireEvent.click(await screen.findByRole('option', { name: category }));
    }
    fireEvent.click(screen.getByRole('button', { name: 'Create' }));
  };

  it('reports that the dataset is ready, with links to it, to another one, and close', async () => {
    await create(async () => 'd1');
    expect(await screen.findByText('Your Dataset is Ready!')).toBeTruthy();
    for (const words of ['Rye', 'RAW', 'Manage Dataset', 'Close'])
      expect(screen.getByText(words)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Create Dataset' }));
    expect((await screen.findByLabelText<HTMLInputElement>('Name')).value).toBe('');
  });

  it('does not show the result again when the sheet is reopened after Back', async () => {
    vi.mocked(call).mockResolvedValue('d3');
    const sheet = (open: boolean) => (
      <QueryClientProvider client={queryClient}>
        <CreateDatasetSheet open={open} onClose={nothing} />
      </QueryClientProvider>
    );
    const { rerender } = render(sheet(true));
    fireEvent.change(await screen.findByLabelText('Name'), { target: { value: 'Rye' } });
    fireEvent.click(screen.getByRole('button', { name: 'Create' }));
    await screen.findByText('Your Dataset is Ready!');
    rerender(sheet(false));
    rerender(sheet(true));
    expect((await screen.findByLabelText<HTMLInputElement>('Name')).value).toBe('');
  });

  it('requires only a name', async () => {
    await create(async () => 'd2', null);
    expect(await screen.findByText('Your Dataset is Ready!')).toBeTruthy();
  });

  it('shows why it failed, and Try again returns to the filled form', async () => {
    await create(() => Promise.reject(refusal('The category is closed')));
    expect(await screen.findByText('The category is closed')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect((await screen.findByLabelText<HTMLInputElement>('Name')).value).toBe('Rye');
  });

  it('asks before closing after a failure, because the input would be lost', async () => {
    await create(() => Promise.reject(refusal('The category is closed')));
    fireEvent.keyDown(await screen.findByText('The category is closed'), { key: 'Escape' });
    expect(await screen.findByText('Discard what you entered?')).toBeTruthy();
  });
});

test('Base model selector unavailable', async () => {
  vi.mocked(call).mockRejectedValue(refusal('The list is broken'));
  const state = { ...initialState, type: 'finetune' } as const;
  render(
    <QueryClientProvider client={queryClient}>
      <BaseModelField wizard={{ state, problems: {}, dispatch: nothing }} />
    </QueryClientProvider>,
  );
  expect(await screen.findByText('Base model selector unavailable')).toBeTruthy();
  expect(screen.getByText('The list is broken')).toBeTruthy();
});

test('Failed to delete generation', async () => {
  const toast = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
  vi.mocked(call).mockRejectedValue(refusal('The server is busy'));
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
  );
  renderHook(useDeleteGeneration, { wrapper }).result.current.mutate(generationOf());
  await waitFor(() => expect(toast).toHaveBeenCalledTimes(1));
  expect(toast.mock.calls[0]?.[0]).toBe('Failed to delete generation');
  expect(toast.mock.calls[0]?.[1]).toMatchObject({ description: 'The server is busy' });
});

describe('deleting a file', () => {
  const file = { path: 'a.csv', sha256: '0'.repeat(64), size_bytes: 3, uploaded_at: '2026-11-21T08:00:00Z' };
  const remove = async (answer: () => Promise<unknown>) => {
    const asset = { dataset_id: 'd1', revision_id: 'r1', files: [file], file_count: 1 };
    vi.mocked(call).mockImplementation(answer);
    render(
      <QueryClientProvider client={queryClient}>
        <FileTable asset={asset as never} canChange onDeleted={() => undefined} />
      </QueryClientProvider>,
    );
    fireEvent.click(screen.getByRole('button', { name: 'Actions for a.csv' }));
    fireEvent.click(await screen.findByRole('menuitem', { name: 'Delete' }));
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
  };

  it('File deleted successfully', async () => {
    const toast = vi.spyOn(notify, 'success').mockReturnValue(undefined);
    await remove(async () => ({}));
    await waitFor(() => expect(toast).toHaveBeenCalledWith('File deleted successfully'));
  });

  it('shows Failed to delete file with the reason', async () => {
    const toast = vi.spyOn(notify, 'failure').mockReturnValue(undefined);
    await remove(() => Promise.reject(refusal('A run uses it')));
    await waitFor(() => expect(toast).toHaveBeenCalledTimes(1));
    expect(toast.mock.calls[0]?.[0]).toBe('Failed to delete file');
    expect(toast.mock.calls[0]?.[1]).toMatchObject({ description: 'A run uses it' });
  });
});
