import { expect, test, vi } from 'vitest';
import { ApiError } from '../lib/api/api-error.ts';
import { queryClient } from '../lib/api/query-client.ts';
import { notifyFailure, notifyFailures } from './notify-failure.ts';

const toast = vi.hoisted(() => ({ error: vi.fn<(title: string, options: object) => void>() }));
vi.mock('sonner', () => ({ toast }));

const unaffordable = new ApiError('Insufficient balance', { status: 402, code: 'insufficient_funds' });

async function toastOf(error: unknown, words?: Parameters<typeof notifyFailure>[1]) {
  toast.error.mockClear();
  notifyFailure(error, words);
  await vi.dynamicImportSettled();
  return toast.error.mock.calls[0];
}

test('insufficient credit shows a link to add credits, even if the form shows the error itself', async () => {
  const [title, options] = (await toastOf(unaffordable, { product: 'Fine-tune', inPlace: true })) ?? [];
  expect(title).toBe('Insufficient balance');
  expect(options).toMatchObject({ duration: 8_000, action: { label: 'Purchase Fine-tune Credits' } });
});

test('a spent key budget is not insufficient credit', async () => {
  const spent = new ApiError('The budget of this key is spent', { status: 402, code: 'budget_exceeded' });
  expect((await toastOf(spent))?.[1]).toMatchObject({ action: undefined });
});

test('reports an unreachable server once for all calls', async () => {
  const away = new ApiError('The server cannot be reached.', { status: 0, code: 'network' });
  expect((await toastOf(away, { title: 'Failed to delete file' }))?.[0]).toBe(
    'The server cannot be reached.',
  );
  expect((await toastOf(away))?.[1]).toMatchObject({ id: 'server-away' });
});

test('an action can override the message or show its errors itself', async () => {
  const error = new Error('The pod is gone');
  expect((await toastOf(error, { prefix: 'Termination failed: ' }))?.[0]).toBe(
    'Termination failed: The pod is gone',
  );
  expect(await toastOf(error, { title: 'Failed to apply configuration' })).toEqual([
    'Failed to apply configuration',
    expect.objectContaining({ description: 'The pod is gone' }),
  ]);
  expect(await toastOf(error, { inPlace: true })).toBeUndefined();
  expect(await toastOf(error, { inPlace: (one) => one !== error })).toBeDefined();
});

test('reports failed mutations by default', async () => {
  toast.error.mockClear();
  const mutation = queryClient.getMutationCache().build(queryClient, {
    mutationFn: () => Promise.reject(new Error('It broke')),
  });
  notifyFailures(queryClient);
  await expect(mutation.execute(undefined)).rejects.toThrow('It broke');
  await vi.waitFor(() => expect(toast.error).toHaveBeenCalledWith('It broke', expect.anything()));
});
