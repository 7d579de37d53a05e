import { expect, it } from 'vitest';
import { contextChoices } from './context-choices.ts';

it.each([
  [{ usual: 8192, max: 8192 }, [2048, 4096, 8192]],
  [{ usual: 8192, max: 40_960 }, [2048, 4096, 8192, 16_384, 32_768, 40_960]],
  [{ usual: 512, max: 512 }, [512]],
  [{ usual: 8192, max: null }, [2048, 4096, 8192, 16_384, 32_768]],
])('of %j they are %j', (quote, choices) => {
  expect(contextChoices(quote)).toEqual(choices);
});
