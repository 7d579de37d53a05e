import { beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { awaitGeneration } from '../await-generation.ts';
import { cancelGeneration } from '../cancel-generation.ts';
import { awaitDrawn } from './await-drawn.ts';

vi.mock('../await-generation.ts', () => ({ awaitGeneration: vi.fn<typeof awaitGeneration>() }));
vi.mock('../cancel-generation.ts', () => ({ cancelGeneration: vi.fn<typeof cancelGeneration>() }));
vi.mock('../../../platform/http/client-signal.ts', () => ({
  clientSignal: () => new AbortController().signal,
}));

const warn = vi.fn<(...said: unknown[]) => void>();
const wait = (idempotencyKey: string | null = null) =>
  awaitDrawn({ idempotencyKey, log: { warn } } as unknown as Context, { id: 'bread' }, {} as Http['reply']);

beforeEach(() => vi.resetAllMocks());

const ended = new AppError('unauthenticated', { publicMessage: 'This API key is no longer valid' });
const gone = new AppError('not_found', { publicMessage: 'No picture has this id' });

test.each([
  ['an API key that has ended', ended, null, 1],
  ['an error after which the call is repeated', new Error('away'), null, 1],
  ['a picture that was deleted', gone, null, 0],
  ['whoever comes back for it', ended, 'mine', 0],
])('%s is told so; cancelled for it: %#', async (_, error, idempotencyKey, times) => {
  vi.mocked(awaitGeneration).mockRejectedValue(error);
  await expect(wait(idempotencyKey)).rejects.toBe(error);
  expect(cancelGeneration).toHaveBeenCalledTimes(times);
});

test('what could not be cancelled does not hide why', async () => {
  vi.mocked(awaitGeneration).mockRejectedValue(ended);
  const away = new Error('away');
  vi.mocked(cancelGeneration).mockRejectedValue(away);
  await expect(wait()).rejects.toBe(ended);
  expect(warn).toHaveBeenCalledWith(expect.objectContaining({ err: away }), expect.any(String));
});
