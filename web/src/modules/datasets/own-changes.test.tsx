import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { useCreateDataset, useDeleteAsset, useUpdateAsset } from './asset-calls.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<() => Promise<unknown>>() }));

test.for([
  { what: 'created', use: useCreateDataset, input: { title: 'Rye', idempotencyKey: 'k' } },
  { what: 'renamed', use: () => useUpdateAsset('d1'), input: { title: 'Rye' } },
  { what: 'deleted', use: () => useDeleteAsset('d1'), input: undefined },
])('refreshes lists and searches once a dataset is $what', async ({ use, input }) => {
  vi.mocked(call).mockResolvedValue({});
  const keys = [
    ['asset', 'list', 'u1'],
    ['asset', 'search', 'rye'],
  ];
  for (const key of keys) queryClient.setQueryData(key, {});
  const { result } = renderHook(() => use() as { mutateAsync: (input: unknown) => Promise<unknown> }, {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });
  await act(async () => void (await result.current.mutateAsync(input)));
  for (const key of keys) expect(queryClient.getQueryState(key)?.isInvalidated).toBe(true);
});
