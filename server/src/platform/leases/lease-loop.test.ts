import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { type ClaimNext, createLeaseLoop } from './lease-loop.ts';

type Options = Omit<Parameters<typeof createLeaseLoop>[1], 'name'>;

/** Starts a loop without a database, because the claims of these tests need none. */
function startLoop(options: Options) {
  const log = { warn: vi.fn<() => void>(), error: vi.fn<() => void>() };
  const listeners = new Map<string, () => void>();
  const onSignal = (name: string, listener: () => void) => {
    listeners.set(name, listener);
    return () => void listeners.delete(name);
  };
  const services = { log, events: { onSignal } } as never;
  const loop = createLeaseLoop(services, { name: 'test', ...options });
  onFileEnd(loop.stop);
  loop.start();
  return { loop, log, listeners };
}

/** Returns these ids as claims. Each one runs until the test ends it, or until it is aborted. */
function queueOf(...ids: string[]) {
  const ends = new Map<string, () => void>();
  const seen: string[][] = [];
  const claim: ClaimNext = async (running) => {
    seen.push([...running]);
    const id = ids.shift();
    if (id === undefined) return null;
    const run = (closing: AbortSignal) =>
      new Promise<void>((resolve) => {
        ends.set(id, resolve);
        closing.addEventListener('abort', () => resolve(), { once: true });
      });
    return { id, run };
  };
  return { ids, claim, seen, ends, started: () => [...ends.keys()] };
}

test('works on at most `places` rows concurrently, and passes their ids to claims', async () => {
  const queue = queueOf('a', 'b', 'c');
  const { loop } = startLoop({ places: 2, claim: queue.claim });
  await vi.waitFor(() => expect(queue.started()).toEqual(['a', 'b']));
  expect(queue.seen).toEqual([[], ['a']]);
  queue.ends.get('a')?.();
  await vi.waitFor(() => expect(queue.started()).toEqual(['a', 'b', 'c']));
  expect(queue.seen.at(-1)).toEqual(['b']);
  await loop.stop();
});

test('wakes on its signal before the next poll', async () => {
  const queue = queueOf();
  const { loop, listeners } = startLoop({ claim: queue.claim, wakeOn: 'queue:moved' });
  await vi.waitFor(() => expect(queue.seen).toHaveLength(1));
  queue.ids.push('a');
  listeners.get('queue:moved')?.();
  await vi.waitFor(() => expect(queue.started()).toEqual(['a']), { timeout: 500, interval: 5 });
  await loop.stop();
  expect(listeners.size).toBe(0);
});

test('aborts running work on stop, waits for it, and claims nothing more', async () => {
  const queue = queueOf('a');
  let ended = false;
  const claim: ClaimNext = async (running) => {
    const claimed = await queue.claim(running);
    return claimed && { ...claimed, run: (closing) => claimed.run(closing).then(() => void (ended = true)) };
  };
  const { loop, log } = startLoop({ claim });
  await vi.waitFor(() => expect(queue.started()).toEqual(['a']));
  queue.ids.push('b');
  await loop.stop();
  expect(ended).toBe(true);
  expect(queue.started()).toEqual(['a']);
  expect(log.error).not.toHaveBeenCalled();
});

test('continues after a claim or its work has failed', async () => {
  const steps: ClaimNext[] = [
    async () => ({ id: 'broken', run: () => Promise.reject(new Error('work')) }),
    () => Promise.reject(new Error('claim')),
  ];
  const queue = queueOf('a');
  const { loop, log } = startLoop({ claim: (running) => (steps.shift() ?? queue.claim)(running) });
  await vi.waitFor(() => expect(queue.started()).toEqual(['a']), { timeout: 3_000 });
  expect(log.error).toHaveBeenCalledOnce();
  expect(log.warn).toHaveBeenCalledOnce();
  await loop.stop();
});
