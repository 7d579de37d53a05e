import { QueryClientProvider } from '@tanstack/react-query';
import { renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { useExampleDataset } from './use-example-dataset.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('an example that is never fetched is given up after ten seconds', async () => {
  vi.useFakeTimers();
  const never = (_: string, { signal }: RequestInit = {}) =>
    new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  vi.stubGlobal('fetch', vi.fn<typeof never>(never));
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useExampleDataset(), { wrapper });
  const failure = result.current.mutateAsync('ada').then(
    () => 'made',
    ({ message }: Error) => message,
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await failure).toBe('Request timeout after 10000ms');
});
