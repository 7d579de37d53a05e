import { afterEach, expect, test, vi } from 'vitest';
import { forgetReads, shareRead } from './shared-reads.ts';

afterEach(forgetReads);

/** A read that ends when the test ends it. */
function reading<T>() {
  const ends = Promise.withResolvers<T>();
  const signals: (AbortSignal | undefined)[] = [];
  const read = vi.fn((signal: AbortSignal | undefined) => {
    signals.push(signal);
    return ends.promise;
  });
  return { read, signals, end: ends.resolve };
}

test('who asks the same while it is under way shares one request, and the next one asks anew', async () => {
  const { read, end } = reading<string>();
  const answers = [shareRead('a', undefined, read), shareRead('a', new AbortController().signal, read)];
  end('answer');
  expect(await Promise.all(answers)).toEqual(['answer', 'answer']);
  expect(read).toHaveBeenCalledTimes(1);
  await shareRead('a', undefined, read);
  expect(read).toHaveBeenCalledTimes(2);
});

test('one who leaves does not take the answer from the others; the last one ends the request', async () => {
  const { read, signals } = reading<string>();
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = [shareRead('a', first.signal, read), shareRead('a', second.signal, read)];
  first.abort('gone');
  await expect(answers[0]).rejects.toBe('gone');
  expect(signals[0]?.aborted).toBe(false);
  second.abort('gone');
  await expect(answers[1]).rejects.toBe('gone');
  expect(signals[0]?.aborted).toBe(true);
  void shareRead('a', undefined, read);
  expect(read).toHaveBeenCalledTimes(2);
});

test('50 requests are remembered; a further one is made for itself', () => {
  const { read } = reading<string>();
  for (let number = 0; number < 50; number += 1) void shareRead(`${number}`, undefined, read);
  void shareRead('more', undefined, read);
  void shareRead('more', undefined, read);
  void shareRead('0', undefined, read);
  expect(read).toHaveBeenCalledTimes(50 + 2);
});

test('after a write nobody is given what was asked before it', () => {
  const { read } = reading<string>();
  void shareRead('a', undefined, read);
  forgetReads();
  void shareRead('a', undefined, read);
  expect(read).toHaveBeenCalledTimes(2);
});
