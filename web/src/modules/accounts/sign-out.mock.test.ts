import { expect, test, vi } from 'vitest';
import { queryClient } from '../../lib/api/query-client.ts';
import { sessionSettled } from '../../lib/session/session-change.ts';
import { authRequest } from './sign-in/auth-request.ts';
import { signOut } from './sign-in/sign-in-calls.ts';

vi.mock('./sign-in/auth-request.ts', () => ({ authRequest: vi.fn<typeof authRequest>() }));

test('cancels pending reads before the session ends', async () => {
  let cancelledBefore = false;
  const read = queryClient.fetchQuery({
    queryKey: ['slow'],
    queryFn: ({ signal }) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        vi.mocked(authRequest).mockImplementation(async () => {
          cancelledBefore = signal.aborted;
        });
      }),
    retry: false,
  });
  const ended = read.catch(() => 'cancelled');
  await signOut();
  expect(await ended).toBe('cancelled');
  expect(authRequest).toHaveBeenCalledWith('POST', 'sign-out', {});
  expect(cancelledBefore).toBe(true);
});

test('does not send requests that start during the sign-out', async () => {
  const read = vi.fn<() => Promise<string>>().mockResolvedValue('own sessions');
  let asked: Promise<unknown> = Promise.resolve();
  vi.mocked(authRequest).mockImplementation(async () => {
    await Promise.resolve();
    // A server event triggers a refetch during the sign-out.
    asked = queryClient
      .fetchQuery({
        queryKey: ['own sessions'],
        queryFn: async ({ signal }) => {
          await sessionSettled(signal);
          return read();
        },
        retry: false,
      })
      .catch(() => 'cancelled');
  });
  await signOut();
  expect(await asked).toBe('cancelled');
  expect(read).not.toHaveBeenCalled();
});
