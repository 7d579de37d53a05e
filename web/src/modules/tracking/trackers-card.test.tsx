import type { Tracker } from '@bakehouse/contract/trackers';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { TrackersCard } from './trackers-card.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({
  call: vi.fn<() => Promise<unknown>>(),
  callRaw: vi.fn<() => Promise<unknown>>(),
}));

const wandb: Tracker = {
  ...{ service: 'wandb', project: 'loaves', url: null, account: 'ada' },
  ...{ connected_at: '2026-11-01T10:00:00.000Z', trouble: null },
};

function answer({ trackers, saving }: { trackers: Tracker[]; saving?: () => Promise<unknown> }) {
  vi.mocked(call).mockImplementation(({ method }) =>
    method === 'GET' ? Promise.resolve({ trackers }) : (saving?.() ?? Promise.resolve(wandb)),
  );
}

/** The body of the last call with this method. */
const sent = (method: string) =>
  vi.mocked(call).mock.calls.find(([endpoint]) => endpoint.method === method)?.[1];

async function open(trackers: Tracker[], saving?: () => Promise<unknown>) {
  answer({ trackers, ...(saving && { saving }) });
  await act(async () => {
    render(
      <QueryClientProvider client={queryClient}>
        <TrackersCard />
      </QueryClientProvider>,
    );
  });
}

beforeEach(() => {
  queryClient.clear();
  vi.mocked(call).mockReset();
});

test('connects a tracker with a key, and shows a rejection at its field', async () => {
  const refusal = new ApiError('Weights & Biases does not accept this API key', {
    ...{ code: 'invalid_request', status: 400, param: 'api_key' },
  });
  await open([], () => Promise.reject(refusal));
  await userEvent.click(await screen.findByRole('button', { name: 'Connect Weights & Biases' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.click(dialog.getByRole('button', { name: 'Connect' }));
  expect(dialog.getByText('API key is required')).toBeTruthy();
  expect(sent('PUT')).toBeUndefined();
  await userEvent.type(dialog.getByLabelText('API key'), 'a-key');
  await userEvent.click(dialog.getByRole('button', { name: 'Connect' }));
  expect(sent('PUT')).toMatchObject({
    params: { service: 'wandb' },
    body: { project: 'bakehouse', api_key: 'a-key' },
  });
  expect(await dialog.findByText('Weights & Biases does not accept this API key')).toBeTruthy();
});

test('requires the URL of MLflow, and its token is optional', async () => {
  await open([wandb]);
  expect(await screen.findByText('Project loaves of ada')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Connect MLflow' }));
  const dialog = within(await screen.findByRole('dialog'));
  await userEvent.type(dialog.getByLabelText('Address'), 'mlflow');
  await userEvent.click(dialog.getByRole('button', { name: 'Connect' }));
  expect(dialog.getByText('Enter an address such as https://mlflow.example.com')).toBeTruthy();
  await userEvent.clear(dialog.getByLabelText('Address'));
  await userEvent.type(dialog.getByLabelText('Address'), 'https://mlflow.example.com');
  await userEvent.click(dialog.getByRole('button', { name: 'Connect' }));
  expect(sent('PUT')).toMatchObject({
    params: { service: 'mlflow' },
    body: { project: 'bakehouse', url: 'https://mlflow.example.com' },
  });
});

test('a tracker that rejects its key shows that, and can be disconnected', async () => {
  const trouble = 'Weights & Biases does not accept this API key. Save another one to go on';
  await open([{ ...wandb, trouble }]);
  expect(await screen.findByText(trouble)).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Disconnect Weights & Biases' }));
  const question = within(await screen.findByRole('alertdialog'));
  await userEvent.click(question.getByRole('button', { name: 'Disconnect' }));
  expect(sent('DELETE')).toMatchObject({ params: { service: 'wandb' } });
});
