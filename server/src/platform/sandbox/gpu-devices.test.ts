import { expect, test } from 'vitest';
import { groupsToUse } from './gpu-devices.ts';

const RENDER = 105;

test('of the groups of GPUs a program gets those alone that may use one, and never root', () => {
  const device = (mode: number, gid: number) => ({ mode: 0o020000 | mode, gid });
  expect(groupsToUse([device(0o660, RENDER), device(0o660, RENDER)])).toEqual([RENDER]);
  // Everybody may use it.
  expect(groupsToUse([device(0o666, RENDER)])).toEqual([]);
  // Of NVIDIA's capabilities one is for root alone.
  expect(groupsToUse([device(0o400, 0), device(0o660, 0)])).toEqual([]);
  expect(groupsToUse([device(0o440, RENDER)])).toEqual([]);
});
