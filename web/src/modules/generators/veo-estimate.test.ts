import { expect, test } from 'vitest';
import { veoEstimate, withFallback } from './veo-estimate.ts';

const failed = { data: undefined, isError: true, isSettled: true };

test.each([
  [{ duration: '8', generate_audio: true }, '150', 0.75],
  [{ duration: '4', generate_audio: false }, '50', 0.5],
])('a video of Veo of %j is estimated at %s BGL where the server does not say', (values, cost, usdEach) => {
  expect(veoEstimate(values)).toBe(cost);
  expect(Number(cost) / 25 / Number(values.duration)).toBe(usdEach);
  expect(withFallback('veo', values, failed)).toEqual({ data: { cost }, isError: false, isSettled: true });
});

test('what the server says comes first, and no other generator is estimated', () => {
  const quote = { data: { cost: '3' }, isError: false, isSettled: true };
  expect(withFallback('veo', { duration: '8', generate_audio: true }, quote)).toBe(quote);
  expect(withFallback('kling', { duration: '5' }, failed)).toBe(failed);
});
