import { describe, expect, test } from 'vitest';
import { isRight, median, verdict } from '../measured.ts';
import { compareLooks, lookAtFixedTimes, type Probe } from './looks.ts';

const EVERY_MS = 50;
const FAST_MS = 2;

/** Returns 400 probes of a server. With `stall`, the server does not respond between these two times. */
function looksAtServer(stall: { from: number; to: number } | null = null): Probe[] {
  return Array.from({ length: 400 }, (_, n) => {
    const dueMs = n * EVERY_MS;
    const heardMs = stall && dueMs >= stall.from && dueMs < stall.to ? stall.to : dueMs;
    return { dueMs, answeredMs: heardMs + FAST_MS };
  });
}

const compared = (during: Probe[]) => compareLooks('health', looksAtServer(), during);
const secondsOf = (looks: Probe[]) => looks.map(({ dueMs, answeredMs }) => answeredMs - dueMs);

describe('compareLooks', () => {
  test('meets its goal with an undisturbed server', () => {
    expect(verdict(compared(looksAtServer()))).toBe('met');
  });

  test('misses its goal after one stall that does not affect the median', () => {
    const during = looksAtServer({ from: 5000, to: 10_000 });
    expect(median(secondsOf(during))).toBe(FAST_MS);
    expect(verdict(compared(during))).toBe('MISSED');
  });

  test('meets its goal with a server that is three times slower, or 300 ms slower', () => {
    const slower = (ms: number) =>
      looksAtServer().map((look) => ({ ...look, answeredMs: look.answeredMs + ms }));
    expect(verdict(compareLooks('health', slower(998), slower(2998)))).toBe('met');
    expect(verdict(compareLooks('health', slower(0), slower(299)))).toBe('met');
    expect(verdict(compareLooks('health', slower(0), slower(301)))).toBe('MISSED');
  });

  test('misses its goal if one probe was never answered', () => {
    const during = looksAtServer().with(7, {
      dueMs: 7 * EVERY_MS,
      answeredMs: Number.POSITIVE_INFINITY,
    });
    expect(verdict(compared(during))).toBe('MISSED');
  });
});

test('a negative control passes if it misses its goal, and fails if it meets it', () => {
  const stalled = { ...compared(looksAtServer({ from: 5000, to: 10_000 })), mustMiss: true };
  const blind = { ...compared(looksAtServer()), mustMiss: true };
  expect([isRight(stalled), verdict(stalled)]).toEqual([true, 'missed, as it must']);
  expect([isRight(blind), verdict(blind)]).toEqual([false, 'MET, BUT IT MUST MISS']);
});

describe('lookAtFixedTimes', () => {
  test('starts each probe at its time, even if no earlier one was answered', async () => {
    const allBegan = Promise.withResolvers<void>();
    let began = 0;
    const looks = await lookAtFixedTimes(
      () => {
        began += 1;
        if (began === 5) allBegan.resolve();
        return allBegan.promise;
      },
      { count: 5, everyMs: 1 },
    );
    const [first] = looks;
    expect(looks.map(({ dueMs }) => Math.round(dueMs - (first?.dueMs ?? 0)))).toEqual([0, 1, 2, 3, 4]);
  });

  test('counts a failed probe as one that was never answered', async () => {
    const [look] = await lookAtFixedTimes(() => Promise.reject(new Error('refused')), {
      count: 1,
      everyMs: 1,
    });
    expect(look?.answeredMs).toBe(Number.POSITIVE_INFINITY);
  });
});
