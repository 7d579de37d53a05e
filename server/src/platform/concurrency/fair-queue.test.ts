import { expect, test, vi } from 'vitest';
import { type FairQueue, fairQueue } from './fair-queue.ts';

/** Work that ends on request. */
function begin({ run }: FairQueue) {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const add = (key: string, name: string) => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    return run(key, async () => {
      begun.push(name);
      await end.promise;
      return name;
    });
  };
  return { begun, add, end: (name: string) => ends.get(name)?.resolve() };
}

test('runs up to the limit concurrently, round-robin by key', async () => {
  const { begun, add, end } = begin(fairQueue(2));
  const all = [add('ada', 'a1'), add('ada', 'a2'), add('ada', 'a3'), add('ada', 'a4'), add('bob', 'b1')];
  await Promise.resolve();
  expect(begun).toEqual(['a1', 'a2']);
  end('a1');
  expect(await all[0]).toBe('a1');
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'a3']);
  end('a2');
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'a3', 'b1']);
  for (const name of ['a3', 'b1', 'a4']) end(name);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
});

test('follows a changed limit: running work continues, and waiting work starts as soon as the limit allows it', async () => {
  let limit = 2;
  const { begun, add, end } = begin(fairQueue(() => limit));
  const all = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => add('ada', name));
  await Promise.resolve();
  limit = 1;
  end('a1');
  await all[0];
  expect(begun).toEqual(['a1', 'a2']);
  limit = 3;
  end('a2');
  await expect.poll(() => begun).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
  for (const name of ['a3', 'a4', 'a5']) end(name);
  await Promise.all(all);
});

test('failed work releases its slot', async () => {
  const { run } = fairQueue(1);
  await expect(run('ada', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await run('ada', async () => 'next')).toBe('next');
});

test('limits concurrent work per key even if slots are free', async () => {
  const { begun, add, end } = begin(fairQueue(3, { perKey: 1 }));
  const all = [add('ada', 'a1'), add('ada', 'a2'), add('bob', 'b1')];
  await Promise.resolve();
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'a2']);
  for (const name of ['a2', 'b1']) end(name);
  await Promise.all(all);
});

test('an aborted caller leaves the queue and does not block it', async () => {
  const { run } = fairQueue(1);
  const first = Promise.withResolvers<void>();
  const running = run('ada', () => first.promise);
  const gone = new AbortController();
  const work = vi.fn(async () => undefined);
  const waiting = run('bob', work, gone.signal);
  const behind = run('bob', async () => 'behind');
  gone.abort(new Error('disconnected'));
  await expect(waiting).rejects.toThrow('disconnected');
  first.resolve();
  await running;
  expect(await behind).toBe('behind');
  expect(work).not.toHaveBeenCalled();
});

/** Waits in the queue under the first letter of a name, and records the order in which callers begin. */
function line(limit: number) {
  const { enter } = fairQueue(limit, { lastForNewcomer: true });
  const began: string[] = [];
  const leaves = new Map<string, () => void>();
  return {
    began,
    ask: async (name: string, signal?: AbortSignal) => {
      const leave = await enter(name.slice(0, 1), signal);
      began.push(name);
      leaves.set(name, leave);
    },
    end: (name: string) => leaves.get(name)?.(),
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('reserves the last slot for a key with no running work', async () => {
  const { ask, began, end } = line(4);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void ask(name);
  await settle();
  expect(began).toEqual(['a1', 'a2', 'a3']);
  void ask('b1');
  void ask('b2');
  await settle();
  expect(began).toEqual(['a1', 'a2', 'a3', 'b1']);

  // Users a and b have running work, so the free slot is reserved for a third user.
  end('a1');
  await settle();
  expect(began).toHaveLength(4);
  void ask('c1');
  await settle();
  expect(began.at(-1)).toBe('c1');
});

test('serves waiting users round-robin', async () => {
  const { ask, began, end } = line(3);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) void ask(name);
  await settle();
  expect(began).toEqual(['a1', 'a2', 'b1']);
  for (const name of ['a1', 'b1', 'a2']) {
    end(name);
    await settle();
  }
  expect(began.slice(3)).toEqual(['a3', 'b2']);
});

test('drops keys without work, and serves one key at a time if there is a single slot', async () => {
  const { ask, began, end } = line(1);
  const gone = new AbortController();
  void ask('a1');
  const left = ask('b1', gone.signal);
  void ask('c1');
  gone.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  end('a1');
  await settle();
  expect(began).toEqual(['a1', 'c1']);
});
