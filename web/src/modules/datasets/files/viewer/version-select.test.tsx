import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { VersionSelect } from './version-select.tsx';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const version = (number: number) => ({
  revision_id: `r${number}`,
  number,
  created_at: '2026-01-01T00:00:00.000Z',
  sha256: '',
  size_bytes: 10,
});

test('loads further pages of revisions to choose from', async () => {
  vi.mocked(call).mockImplementation(async (_endpoint, input) => {
    const { cursor } = (input as { query: { cursor?: string } }).query;
    return cursor === 'r2'
      ? { versions: [version(1)], next_cursor: null }
      : { versions: [version(3), version(2)], next_cursor: 'r2' };
  });
  render(
    <QueryClientProvider client={new QueryClient()}>
      <VersionSelect assetId="set" path="d.csv" newest="r3" value="r1" onChange={() => undefined} />
    </QueryClientProvider>,
  );
  fireEvent.click(await screen.findByRole('button', { name: 'Load older versions' }));
  expect(await screen.findByText('Version 1')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Load older versions' })).toBeNull();
});
