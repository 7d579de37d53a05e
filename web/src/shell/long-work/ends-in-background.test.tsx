import { QueryClientProvider } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { followChanges } from '../../lib/live/follow-changes.ts';
import { useRunWork } from '../../modules/fine-tuning/runs/use-run-work.ts';
import { useEndToasts } from './use-end-toasts.ts';

const USER = '11111111-1111-4111-8111-111111111111';
const PAUSE_MS = 3_000;

const run = { run_id: 'r1', title: 'Baker', state: 'running', reason: '', stop_reason: null, charged: null };
let stored: object = run;
let streams: ReadableStreamDefaultController<Uint8Array>[] = [];

/** Fake Web Locks; another tab holds the lock if `heldElsewhere`. */
function locksOf({ heldElsewhere }: { heldElsewhere: boolean }) {
  return {
    request: async (
      _name: string,
      options: { ifAvailable?: boolean; signal?: AbortSignal },
      hold: (lock: object | null) => Promise<void>,
    ) => {
      if (!heldElsewhere) return hold({});
      if (options.ifAvailable) return hold(null);
      return new Promise<void>((_resolve, reject) => options.signal?.addEventListener('abort', reject));
    },
  };
}

const hide = (isHidden: boolean) => {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(isHidden);
  document.dispatchEvent(new Event('visibilitychange'));
};

beforeEach(() => {
  vi.useFakeTimers();
  stored = run;
  streams = [];
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  vi.stubGlobal('fetch', async (url: string, { signal }: RequestInit = {}) => {
    if (url.includes('/work')) return Response.json({ runs: [stored] });
    if (!url.includes('/events')) return new Response(null);
    signal?.throwIfAborted();
    const start = (stream: ReadableStreamDefaultController<Uint8Array>) => {
      streams.push(stream);
      signal?.addEventListener('abort', () => stream.error(signal.reason));
    };
    return new Response(new ReadableStream<Uint8Array>({ start }));
  });
});

afterEach(() => {
  hide(false);
  queryClient.clear();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  Reflect.deleteProperty(navigator, 'locks');
});

const wrapper = ({ children }: { children: ReactNode }) => (
  <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
);

it.each([
  ['this tab listens', false, 'Baker has finished training · Bakehouse'],
  ['another tab listens', true, 'Dashboard · Bakehouse'],
])('a run ends while the tab is hidden: %s', async (_which, heldElsewhere, title) => {
  Object.defineProperty(navigator, 'locks', { value: locksOf({ heldElsewhere }), configurable: true });
  document.title = 'Dashboard · Bakehouse';
  const ending = new AbortController();
  renderHook(() => useEndToasts(useRunWork()), { wrapper });
  const following = followChanges(USER, Date.now(), ending.signal);
  const pass = () => act(() => vi.advanceTimersByTimeAsync(PAUSE_MS));
  await pass();
  hide(true);
  await pass();
  stored = { ...run, state: 'completed' };
  try {
    streams
      .at(-1)
      ?.enqueue(new TextEncoder().encode('id: 1\nevent: change\ndata: {"topic":"run","id":"r1"}\n\n'));
  } catch {
    // Already closed.
  }
  await pass();
  expect(document.title).toBe(title);
  expect(streams).toHaveLength(1);
  ending.abort();
  await pass();
  await following;
});
