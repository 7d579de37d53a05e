import { expect, it } from 'vitest';
import { speedOf } from './chat.ts';

it('counts speed from the second token on', () => {
  expect(speedOf(100, 1_100, 11)).toEqual({ firstTokenMs: 100, tokens: 11, tokensPerSecond: 10 });
  expect(speedOf(100, 100, 1).tokensPerSecond).toBeNull();
});
