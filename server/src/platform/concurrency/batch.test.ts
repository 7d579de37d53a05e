import { expect, test, vi } from 'vitest';
import { batch } from './batch.ts';

/** Longer than a test runs. */
const FOR_EVER = 1_000_000;

/** An `answerAll` that resolves on request, and records its inputs. */
function slowly() {
  const calls: { inputs: number[]; end: () => void; fail: (error: Error) => void }[] = [];
  const answerAll = (inputs: number[]) =>
    new Promise<string[]>((resolve, reject) => {
      calls.push({ inputs, end: () => resolve(inputs.map((input) => `answer ${input}`)), fail: reject });
    });
  return { calls, answerAll };
}

const everyoneHasHad = () => new Promise((resolve) => setImmediate(resolve));

test('sends the first input immediately, and later ones together', async () => {
  const { calls, answerAll } = slowly();
  const ask = batch(answerAll, { max: 10, timeoutMs: FOR_EVER });
  const first = ask(1);
  expect(calls.map((call) => call.inputs)).toEqual([[1]]);
  const others = [ask(2), ask(3), ask(4)];
  expect(calls).toHaveLength(1);

  calls[0]?.end();
  expect(await first).toBe('answer 1');
  await everyoneHasHad();
  expect(calls[1]?.inputs).toEqual([2, 3, 4]);
  calls[1]?.end();
  expect(await Promise.all(others)).toEqual(['answer 2', 'answer 3', 'answer 4']);

  await everyoneHasHad();
  void ask(5);
  expect(calls[2]?.inputs).toEqual([5]);
});

test('a call has at most `max` inputs, in order of arrival', async () => {
  const seen: number[][] = [];
  const ask = batch(
    async (inputs: number[]) => {
      seen.push(inputs);
      return inputs;
    },
    { max: 3 },
  );
  const inputs = Array.from({ length: 8 }, (_, i) => i);
  expect(await Promise.all(inputs.map(ask))).toEqual(inputs);
  expect(seen).toEqual([[0], [1, 2, 3], [4, 5, 6], [7]]);
});

test('a failed call fails only its inputs, and later calls continue', async () => {
  const { calls, answerAll } = slowly();
  const ask = batch(answerAll, { max: 10, timeoutMs: FOR_EVER });
  const failing = ask(1);
  const next = ask(2);
  calls[0]?.fail(new Error('no'));
  await expect(failing).rejects.toThrow('no');
  await everyoneHasHad();
  calls[1]?.end();
  expect(await next).toBe('answer 2');
});

test('a call that throws synchronously, or returns too few answers, rejects all its inputs', async () => {
  const throwing = batch<number, number>(
    () => {
      throw new Error('at once');
    },
    { max: 10 },
  );
  const throws = await Promise.allSettled([throwing(1), throwing(2)]);
  expect(throws.map(({ status }) => status)).toEqual(['rejected', 'rejected']);

  const short = batch(async () => [] as number[], { max: 10 });
  await expect(short(1)).rejects.toThrow('0 answers for 1 inputs');
});

test('a hanging call does not block later ones', async () => {
  const { calls, answerAll } = slowly();
  const ask = batch(answerAll, { max: 10, timeoutMs: 1 });
  void ask(1);
  const next = ask(2);
  await vi.waitFor(() => expect(calls.map((call) => call.inputs)).toEqual([[1], [2]]));
  calls[1]?.end();
  expect(await next).toBe('answer 2');
});
