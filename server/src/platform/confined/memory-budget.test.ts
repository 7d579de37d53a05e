import { expect, test } from 'vitest';
import { memoryBudget } from './memory-budget.ts';

const never = new AbortController().signal;

/** Starts programs of these kinds and sizes, and returns those that have begun. */
function start(totalMb: number) {
  const { enter } = memoryBudget(totalMb);
  const begun: string[] = [];
  const leave = new Map<string, () => void>();
  const ask = (name: string, mb: number, signal = never) =>
    enter(name.slice(0, -1), mb, signal).then(
      (end) => {
        begun.push(name);
        leave.set(name, end);
      },
      () => undefined,
    );
  const turn = () => new Promise(setImmediate);
  return { ask, begun, turn, end: (name: string) => leave.get(name)?.() };
}

test('programs of all kinds together stay within the limit', async () => {
  const { ask, begun, turn, end } = start(1000);
  for (const name of ['query1', 'preview1', 'check1', 'card1']) void ask(name, 400);
  await turn();
  expect(begun).toEqual(['query1', 'preview1']);
  end('query1');
  await turn();
  expect(begun).toEqual(['query1', 'preview1', 'check1']);
  end('preview1');
  await turn();
  expect(begun).toEqual(['query1', 'preview1', 'check1', 'card1']);
});

test('one kind leaves half of the memory to others', async () => {
  const { ask, begun, turn, end } = start(1000);
  for (const name of ['query1', 'query2', 'preview1']) void ask(name, 400);
  await turn();
  expect(begun).toEqual(['query1', 'preview1']);
  end('query1');
  await turn();
  expect(begun).toEqual(['query1', 'preview1', 'query2']);
});

test('a program larger than the total runs alone, and later ones do not overtake it', async () => {
  const { ask, begun, turn, end } = start(1000);
  void ask('card1', 100);
  void ask('query1', 3000);
  void ask('preview1', 100);
  await turn();
  expect(begun).toEqual(['card1']);
  end('card1');
  await turn();
  expect(begun).toEqual(['card1', 'query1']);
  end('query1');
  await turn();
  expect(begun).toEqual(['card1', 'query1', 'preview1']);
});

test('an aborted program leaves the queue', async () => {
  const { ask, begun, turn } = start(1000);
  const leaving = new AbortController();
  void ask('card1', 600);
  void ask('query1', 600, leaving.signal);
  void ask('preview1', 300);
  leaving.abort();
  await turn();
  expect(begun).toEqual(['card1', 'preview1']);
});
