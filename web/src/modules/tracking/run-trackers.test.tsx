import { QueryClientProvider } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { RunTrackers } from './run-trackers.tsx';

vi.mock('../../lib/api/api-client.ts', () => ({
  call: vi.fn<() => Promise<unknown>>(),
  callRaw: vi.fn<() => Promise<unknown>>(),
}));
vi.mock('@tanstack/react-router', async (original) => ({
  ...(await original<object>()),
  Link: ({ to, children }: { to: string; children: string }) => <a href={to}>{children}</a>,
}));

const show = () =>
  act(async () => {
    render(
      <QueryClientProvider client={queryClient}>
        <RunTrackers runId="r1" />
      </QueryClientProvider>,
    );
  });

beforeEach(() => {
  queryClient.clear();
  vi.mocked(call).mockReset();
});

test('shows nothing about trackers until they are loaded', async () => {
  vi.mocked(call).mockReturnValue(new Promise(() => undefined));
  await show();
  expect(screen.queryByText(/not logged to an external tracker/)).toBeNull();
  expect(screen.getByRole('button', { name: 'TensorBoard' })).toBeTruthy();
});

test('a run without trackers links to the settings that connect them', async () => {
  vi.mocked(call).mockResolvedValue({ trackers: [] });
  await show();
  expect(await screen.findByText(/not logged to an external tracker/)).toBeTruthy();
  expect(screen.getByRole('link', { name: 'profile' }).getAttribute('href')).toBe('/profile');
});

test('a run links to its page at each tracker, or shows why it has none', async () => {
  const trouble = 'MLflow could not be reached. Trying again every minute';
  vi.mocked(call).mockResolvedValue({
    trackers: [
      { service: 'wandb', url: 'https://wandb.ai/bakery/loaves/runs/r1', trouble: null },
      { service: 'mlflow', url: null, trouble },
    ],
  });
  await show();
  const link = await screen.findByRole('link', { name: 'Weights & Biases' });
  expect(link.getAttribute('href')).toBe('https://wandb.ai/bakery/loaves/runs/r1');
  expect(screen.getByText('MLflow: after the first steps')).toBeTruthy();
  expect(screen.getByText(trouble)).toBeTruthy();
});
