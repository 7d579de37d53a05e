import { expect, test, vi } from 'vitest';
import { ModelServerUnreachable, retryUnreachable } from './model-server-client.ts';

const away = new ModelServerUnreachable(new Error('ECONNREFUSED'));
const asked = { modelName: 'bread', signal: new AbortController().signal };

test('retries an unreachable model server but no other error', async () => {
  const attempt = vi.fn<(number: number) => Promise<string>>().mockResolvedValue('answer');
  attempt.mockRejectedValueOnce(away).mockRejectedValueOnce(away);
  expect(await retryUnreachable(attempt, asked)).toBe('answer');
  expect(attempt.mock.calls).toEqual([[1], [2], [3]]);
  attempt.mockRejectedValueOnce(new Error('refused'));
  await expect(retryUnreachable(attempt, asked)).rejects.toThrow('refused');
  expect(attempt).toHaveBeenCalledTimes(4);
});

test('reports a server that stays unreachable', async () => {
  const attempt = vi.fn<() => Promise<void>>().mockRejectedValue(away);
  await expect(retryUnreachable(attempt, asked)).rejects.toMatchObject({
    code: 'unavailable',
    publicMessage: 'bread does not answer. Try again',
    retryAfterMs: 5_000,
  });
  expect(attempt).toHaveBeenCalledTimes(10);
});

test('delivers a request that may have crashed a server only twice', async () => {
  const died = new ModelServerUnreachable(new Error('ECONNRESET'), { wasDelivered: true });
  const attempt = vi.fn<() => Promise<void>>().mockRejectedValue(died);
  attempt.mockRejectedValueOnce(died).mockRejectedValueOnce(away).mockRejectedValueOnce(away);
  await expect(retryUnreachable(attempt, asked)).rejects.toMatchObject({
    code: 'unavailable',
    retryAfterMs: null,
  });
  expect(attempt).toHaveBeenCalledTimes(4);
});

test('stops retrying when the caller disconnects', async () => {
  const leaving = new AbortController();
  const attempt = vi.fn<() => Promise<void>>().mockRejectedValue(away);
  setTimeout(() => leaving.abort(), 50);
  await expect(retryUnreachable(attempt, { ...asked, signal: leaving.signal })).rejects.toThrow('aborted');
  expect(attempt).toHaveBeenCalledOnce();
});
