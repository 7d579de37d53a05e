import { afterEach, expect, test, vi } from 'vitest';
import { makeExample } from './make-example.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('stops fetching the example after ten seconds', async () => {
  vi.useFakeTimers();
  const never = (_: string, { signal }: RequestInit = {}) =>
    new Promise<Response>((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  vi.stubGlobal('fetch', vi.fn<typeof never>(never));
  const failure = makeExample('ada', 'key').then(
    () => 'made',
    ({ message }: Error) => message,
  );
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await failure).toBe('Request timeout after 10000ms');
});
