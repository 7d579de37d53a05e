import { expect, test, vi } from 'vitest';
import { takeTurns } from './take-turns.ts';

/** Work that ends when it is told to. */
function begin(run: ReturnType<typeof takeTurns>) {
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

test('runs as much at once as is allowed, and takes turns by key', async () => {
  const { begun, add, end } = begin(takeTurns(2));
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

test('work that fails gives its place back', async () => {
  const run = takeTurns(1);
  await expect(run('ada', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await run('ada', async () => 'next')).toBe('next');
});

test('runs no more of one key at once than it may, though there is room', async () => {
  const { begun, add, end } = begin(takeTurns(3, { perKey: 1 }));
  const all = [add('ada', 'a1'), add('ada', 'a2'), add('bob', 'b1')];
  await Promise.resolve();
  expect(begun).toEqual(['a1', 'b1']);
  end('a1');
  await expect.poll(() => begun).toEqual(['a1', 'b1', 'a2']);
  for (const name of ['a2', 'b1']) end(name);
  await Promise.all(all);
});

test('who gives up waiting leaves the line, and nobody waits for it', async () => {
  const run = takeTurns(1);
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
