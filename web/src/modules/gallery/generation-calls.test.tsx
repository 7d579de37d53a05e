import { type Generation, quoteGeneration } from '@bakehouse/contract/generations';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook, waitFor } from '@testing-library/react';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { upload } from '../../lib/api/upload.ts';
import { setConnected } from '../../lib/live/event-stream.ts';
import { consumeAwaitedEnd } from '../../ui/long-work.ts';
import { useGeneration, useQuote, useStartGeneration } from './generation-calls.ts';
import { POLLS_MAX } from './generation-queries.ts';
import { workId } from './generation-sentences.ts';
import { unfinished } from './testing/generation-of.ts';

vi.mock('../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));
vi.mock('../../lib/api/upload.ts', () => ({ upload: vi.fn<typeof upload>() }));

const lost = new ApiError('Request timeout after 15000ms', { status: 0, code: 'timeout' });
const wrapper = ({ children }: { children: React.ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);

beforeEach(() => {
  queryClient.clear();
  vi.mocked(call).mockReset();
});

const request = { generator: 'paris' as const, prompt: 'A loaf', parameters: {}, shownCost: '0.5' };

test('Generation timed out. Please try again.', async () => {
  vi.mocked(call).mockRejectedValue(lost);
  const { result } = renderHook(() => useStartGeneration(), { wrapper });
  const attempt = () => act(() => result.current.mutateAsync(request).catch((error: Error) => error.message));
  expect(await attempt()).toBe('Generation timed out. Please try again.');
  await attempt();
  // Reuses the idempotency key, because the server may have received the first attempt.
  const [first, second] = vi.mocked(call).mock.calls.map(([, , options]) => options);
  expect(first).toMatchObject({ timeoutMs: 35_000, idempotencyKey: second?.idempotencyKey });
});

test('reloads and shows a generation that ended before its start was answered', async () => {
  // No polling.
  setConnected(true);
  onTestFinished(() => setConnected(false));
  const failed = unfinished({ state: 'failed', ended_at: '2026-01-01T00:01:00.000Z' });
  vi.mocked(call).mockResolvedValueOnce(unfinished()).mockResolvedValue(failed);
  const start = renderHook(() => useStartGeneration(), { wrapper });
  const { id } = await act(() => start.result.current.mutateAsync(request));
  const { result } = renderHook(() => useGeneration(id), { wrapper });
  expect(result.current.data?.state).toBe('running');
  await waitFor(() => expect(result.current.data?.state).toBe('failed'));
});

test('Generation timed out after multiple attempts. Please try again.', async () => {
  vi.useFakeTimers();
  vi.mocked(call).mockRejectedValue(lost);
  const { result } = renderHook(() => useGeneration('g1'), { wrapper });
  await act(() => vi.advanceTimersByTimeAsync(39 * 3_000 - 1));
  expect(call).toHaveBeenCalledTimes(39);
  await act(() => vi.advanceTimersByTimeAsync(10 * 60_000));
  vi.useRealTimers();
  await waitFor(() =>
    expect(result.current.error?.message).toBe(
      'Generation timed out after multiple attempts. Please try again.',
    ),
  );
  expect(call).toHaveBeenCalledTimes(40);
  expect(vi.mocked(call).mock.calls[0]?.[2]).toMatchObject({ timeoutMs: 15_000 });
});

test('reports an unreachable server as such, not as a timeout', async () => {
  const away = 'The server cannot be reached. Check your connection and try again.';
  vi.mocked(call).mockRejectedValue(new ApiError(away, { status: 0, code: 'network' }));
  const { result } = renderHook(() => useStartGeneration(), { wrapper });
  await expect(act(() => result.current.mutateAsync(request))).rejects.toThrow(away);

  vi.useFakeTimers();
  const watched = renderHook(() => useGeneration('g1'), { wrapper });
  await act(() => vi.advanceTimersByTimeAsync(10 * 60_000));
  vi.useRealTimers();
  await waitFor(() => expect(watched.result.current.error?.message).toBe(away));
  expect(call).toHaveBeenCalledTimes(1 + POLLS_MAX);
});

test('times out after 40 polls even if each was answered', async () => {
  vi.useFakeTimers();
  vi.mocked(call).mockResolvedValue(unfinished());
  const { result } = renderHook(() => useGeneration('g1'), { wrapper });
  await act(() => vi.advanceTimersByTimeAsync(10 * 60_000));
  vi.useRealTimers();
  await waitFor(() =>
    expect(result.current.error?.message).toBe(
      'Generation timed out after multiple attempts. Please try again.',
    ),
  );
  expect(call).toHaveBeenCalledTimes(POLLS_MAX);
  // Another try resets the count.
  void result.current.refetch();
  await waitFor(() => expect(result.current.error).toBeNull());
});

test('polls a video more than 40 times, and times out after 40 without an answer', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  for (let read = 0; read < POLLS_MAX + 5; read += 1)
    vi.mocked(call).mockResolvedValueOnce(unfinished({ generator: 'wan' }));
  vi.mocked(call).mockRejectedValue(lost);
  const { result } = renderHook(() => useGeneration('g1'), { wrapper });
  await act(() => vi.advanceTimersByTimeAsync(10 * 60_000));
  vi.useRealTimers();
  await waitFor(() => expect(result.current.error?.message).toMatch(/after multiple attempts/));
  expect(call).toHaveBeenCalledTimes(2 * POLLS_MAX + 5);
});

test('announces the end of a generation started here even if it ends before it is listed', async () => {
  const generation = unfinished();
  vi.mocked(call).mockResolvedValue(generation);
  const { result } = renderHook(() => useStartGeneration(), { wrapper });
  await act(() => result.current.mutateAsync(request));
  expect(consumeAwaitedEnd(workId(generation.id))).toBe(true);
});

test("reports other errors with the server's message", async () => {
  vi.mocked(call).mockRejectedValue(new ApiError('Guidance must be at most 15', { status: 400 }));
  const { result } = renderHook(() => useStartGeneration(), { wrapper });
  await expect(act(() => result.current.mutateAsync(request))).rejects.toThrow('Guidance must be at most 15');
});

test.each([
  ['a picture', null, 3],
  ['an edit', { url: '/source.png' }, 5],
] as const)(
  'without events, polls %s with the source %j every %i seconds',
  async (_what, source, seconds) => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    vi.mocked(call).mockResolvedValue(unfinished({ source: source as Generation['source'] }));
    renderHook(() => useGeneration('g1'), { wrapper });
    await act(() => vi.advanceTimersByTimeAsync(60_000 + 500));
    vi.useRealTimers();
    expect(call).toHaveBeenCalledTimes(1 + 60 / seconds);
  },
);

test.each([
  ['seedance', 15],
  ['veo', 3],
  ['wan', 3],
] as const)('without events, polls a video of %s every %i seconds', async (generator, seconds) => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const source = { url: '/source.png' } as Generation['source'];
  vi.mocked(call).mockResolvedValue(unfinished({ generator, source }));
  renderHook(() => useGeneration('g1'), { wrapper });
  await act(() => vi.advanceTimersByTimeAsync(60_000 + 500));
  vi.useRealTimers();
  expect(call).toHaveBeenCalledTimes(1 + 60 / seconds);
});

test('uploads a picture again if the server no longer has it', async () => {
  const edit = {
    ...request,
    generator: 'flux-kontext' as const,
    source: { file: new File([], 'bread.png') },
  };
  vi.mocked(upload).mockResolvedValueOnce({ id: 'p1' }).mockResolvedValueOnce({ id: 'p2' });
  vi.mocked(call).mockRejectedValueOnce(
    new ApiError('No picture has this id', { status: 404, param: 'picture_id' }),
  );
  vi.mocked(call).mockResolvedValueOnce(unfinished());
  const { result } = renderHook(() => useStartGeneration(), { wrapper });
  await expect(act(() => result.current.mutateAsync(edit))).rejects.toThrow('No picture has this id');
  await act(() => result.current.mutateAsync(edit));
  expect(vi.mocked(call).mock.calls.map(([, input]) => input?.body)).toMatchObject([
    { picture_id: 'p1' },
    { picture_id: 'p2' },
  ]);
});

test.each([
  ['is limited to the quoted price', () => Promise.resolve({ cost: '2' }), { cost_max: '2' }],
  ['has no limit if the quote fails', () => Promise.reject(new ApiError('No price', { status: 400 })), {}],
])('a request made before its price is displayed %s', async (_what, read, limit) => {
  vi.mocked(call).mockImplementation(async (endpoint: unknown) =>
    endpoint === quoteGeneration ? read() : unfinished(),
  );
  const { result } = renderHook(() => useStartGeneration(), { wrapper });
  await act(() => result.current.mutateAsync({ ...request, shownCost: undefined }));
  const [, input] = vi.mocked(call).mock.lastCall ?? [];
  expect(input?.body).toEqual({ generator: 'paris', prompt: 'A loaf', parameters: {}, ...limit });
});

test("quotes the form's values only once the provider is known", async () => {
  vi.mocked(call).mockResolvedValue({ cost: '1' });
  const quote = { initialProps: { steps: 999, known: false }, wrapper };
  const { result, rerender } = renderHook(
    ({ steps, known }) => useQuote({ generator: 'flux', parameters: { steps } }, known),
    quote,
  );
  rerender({ steps: 28, known: true });
  await waitFor(() => expect(result.current.shownCost).toBe('1'));
  expect(result.current.isSettled).toBe(true);
  expect(vi.mocked(call).mock.calls.map(([, asked]) => asked)).toEqual([
    { body: { generator: 'flux', parameters: { steps: 28 } } },
  ]);
});
