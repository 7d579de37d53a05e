import { describe, expect, it } from 'vitest';
import { describeUv, estimateUv, readUvLine, uvAtStart } from './uv-progress.ts';

const afterLines = (...lines: string[]) => lines.reduce(readUvLine, uvAtStart);
const begun = ['Resolved 108 packages in 357ms', 'Downloading numpy (16.1MiB)', 'Downloading torch (1.2GiB)'];

describe("converts uv's output to readable progress", () => {
  it.each([
    [[], 'Looking up the packages'],
    [begun, 'Downloading torch and 1 more (0.0 of 1.3 GB done)'],
    [[...begun, ' Downloaded torch'], 'Downloading numpy (1.3 of 1.3 GB done)'],
    [
      [...begun, ' Downloaded torch', ' Downloaded numpy', 'Prepared 108 packages in 9s'],
      'Installing the downloaded packages',
    ],
  ])('%#', (lines, sentence) => {
    expect(describeUv(afterLines(...lines))).toBe(sentence);
  });
});

describe('the estimate', () => {
  it('follows disk growth during large downloads, and finished downloads afterwards', () => {
    expect(estimateUv(afterLines(...begun), 3e9, 6e9)).toBeCloseTo(0.5);
    expect(estimateUv(afterLines(...begun, ' Downloaded torch'), 0, 6e9)).toBeGreaterThan(0.9);
  });

  it('stays between 0 and 0.99, even if other programs fill or free the disk', () => {
    expect(estimateUv(uvAtStart, -5e9, 6e9)).toBe(0);
    expect(estimateUv(uvAtStart, 50e9, 6e9)).toBe(0.99);
  });
});
