import { expect, it } from 'vitest';
import { chooseContext, chooseCpuContext } from './choose-placement.ts';

const GB = 1e9;
/** One gigabyte for 8,192 tokens of four requests. */
const layers = [{ bytesPerToken: GB / 8192 / 4, window: null }];
const model = (positions: number | null) => ({ positions, layers });
const onCpu = (asked: number | undefined, memoryBytes: number | undefined) =>
  chooseCpuContext({ title: 'A Base', weightsBytes: GB }, model(131_072), { asked, memoryBytes });

it.each([
  [131_072, undefined, 8192],
  [2048, undefined, 2048],
  [null, undefined, 8192],
  [131_072, 100_000, 100_000],
  [null, 100_000, 100_000],
])('a model of %j tokens with %j requested gets %i', (positions, asked, tokens) => {
  expect(chooseContext('A Base', model(positions), asked)).toEqual({ tokens, max: positions });
});

it("refuses more than the model's maximum", () => {
  expect(() => chooseContext('A Base', model(2048), 2049)).toThrow(
    'context_tokens must be at most 2048: A Base was made to read no more',
  );
});

it('fits the context next to the weights on the CPU', () => {
  expect(onCpu(undefined, undefined).tokens).toBe(8192);
  expect(onCpu(undefined, 2 * GB).tokens).toBe(8192);
  expect(onCpu(undefined, 1.5 * GB).tokens).toBe(4096);
  expect(onCpu(65_536, 9 * GB).tokens).toBe(65_536);
  expect(() => onCpu(65_536, 5 * GB)).toThrow(
    'context_tokens: 65536 tokens of A Base need 9 GB of memory, and this machine has 5 GB. Ask for 32768',
  );
});
