import { expect, test } from 'vitest';
import { groupsToUse } from './gpu-devices.ts';

const RENDER = 105;

test('a program joins only the groups that may use a GPU, and never root', () => {
  const device = (mode: number, gid: number) => ({ mode: 0o020000 | mode, gid });
  expect(groupsToUse([device(0o660, RENDER), device(0o660, RENDER)])).toEqual([RENDER]);
  // A device that everyone may use needs no group.
  expect(groupsToUse([device(0o666, RENDER)])).toEqual([]);
  // Some of NVIDIA's device files are only for root.
  expect(groupsToUse([device(0o400, 0), device(0o660, 0)])).toEqual([]);
  expect(groupsToUse([device(0o440, RENDER)])).toEqual([]);
});
