import { expect, test } from 'vitest';
import { veoEstimate, withFallback } from './veo-estimate.ts';

const failed = { data: undefined, isError: true, isSettled: true };

test.each([
  [{ duration: '8', generate_audio: true }, '150', 0.75],
  [{ duration: '4', generate_audio: false }, '50', 0.5],
])('a Veo video of %j is estimated at %s BGL if the server has no price', (values, cost, usdEach) => {
  expect(veoEstimate(values)).toBe(cost);
  expect(Number(cost) / 25 / Number(values.duration)).toBe(usdEach);
  expect(withFallback('veo', values, failed)).toEqual({ data: { cost }, isError: false, isSettled: true });
});

test("the server's price takes precedence, and other generators have no estimate", () => {
  const quote = { data: { cost: '3' }, isError: false, isSettled: true };
  expect(withFallback('veo', { duration: '8', generate_audio: true }, quote)).toBe(quote);
  expect(withFallback('kling', { duration: '5' }, failed)).toBe(failed);
});
