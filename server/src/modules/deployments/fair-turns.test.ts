import { expect, it } from 'vitest';
import { fairTurns } from './fair-turns.ts';

const never = new AbortController().signal;

/** Enters and notes who begins, in order. */
function line(limit: number) {
  const enter = fairTurns(limit);
  const began: string[] = [];
  const leaves = new Map<string, () => void>();
  return {
    began,
    ask: async (name: string, signal = never) => {
      const leave = await enter(name.slice(0, 1), signal);
      began.push(name);
      leaves.set(name, leave);
    },
    end: (name: string) => leaves.get(name)?.(),
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('keeps the last place for one who has nothing running', async () => {
  const { ask, began, end } = line(4);
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void ask(name);
  await settle();
  expect(began).toEqual(['a1', 'a2', 'a3']);
  void ask('b1');
  void ask('b2');
  await settle();
  expect(began).toEqual(['a1', 'a2', 'a3', 'b1']);

  // Both have something running: what becomes free waits for a newcomer.
  end('a1');
  await settle();
  expect(began).toHaveLength(4);
  void ask('c1');
  await settle();
  expect(began.at(-1)).toBe('c1');
});

it('lets users take turns', async () => {
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

it('forgets who has left the line, and serves one alone where there is one place', async () => {
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
