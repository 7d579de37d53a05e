import { afterEach, expect, test, vi } from 'vitest';
import { discardSharedReads, shareRead } from './shared-reads.ts';

afterEach(discardSharedReads);

/** A read that the test completes. */
function reading<T>() {
  const ends = Promise.withResolvers<T>();
  const signals: (AbortSignal | undefined)[] = [];
  const read = vi.fn((signal: AbortSignal | undefined) => {
    signals.push(signal);
    return ends.promise;
  });
  return { read, signals, end: ends.resolve };
}

test('concurrent identical reads share one request; a later read starts a new one', async () => {
  const { read, end } = reading<string>();
  const answers = [shareRead('a', undefined, read), shareRead('a', new AbortController().signal, read)];
  end('answer');
  expect(await Promise.all(answers)).toEqual(['answer', 'answer']);
  expect(read).toHaveBeenCalledTimes(1);
  await shareRead('a', undefined, read);
  expect(read).toHaveBeenCalledTimes(2);
});

test('a caller that aborts does not affect the others; the last one aborts the request', async () => {
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

test('tracks at most 50 requests; others are not shared', () => {
  const { read } = reading<string>();
  for (let number = 0; number < 50; number += 1) void shareRead(`${number}`, undefined, read);
  void shareRead('more', undefined, read);
  void shareRead('more', undefined, read);
  void shareRead('0', undefined, read);
  expect(read).toHaveBeenCalledTimes(50 + 2);
});

test('after a write, reads do not join requests started before it', () => {
  const { read } = reading<string>();
  void shareRead('a', undefined, read);
  discardSharedReads();
  void shareRead('a', undefined, read);
  expect(read).toHaveBeenCalledTimes(2);
});
