import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useAllAssets } from './choices.ts';

vi.mock('../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

it('keeps the options if a page fails, and does not retry endlessly', async () => {
  let failures = 0;
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const { query } = args[1] as { query: { cursor?: string } };
    if (!query.cursor) return { datasets: [{ dataset_id: 'd1' }], next_cursor: 'more' };
    // Long enough for the pending state to render.
    await new Promise((resolve) => setTimeout(resolve, 5));
    failures += 1;
    throw new ApiError('Not now', { status: 400 });
  });
  const { result } = renderHook(() => useAllAssets('u1', 'RAW'), {
    wrapper: ({ children }) => <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>,
  });
  await waitFor(() => expect(failures).toBe(1));
  // Each rendering after a failure could trigger another request.
  for (let i = 0; i < 20; i += 1) await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
  expect(failures).toBe(1);
  expect(result.current).toMatchObject({ assets: [{ dataset_id: 'd1' }], error: null, complete: false });
});
