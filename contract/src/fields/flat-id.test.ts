import { expect, it } from 'vitest';
import { flatId, fromFlatId, toFlatId } from './flat-id.ts';

const ID = '0b9c2f4e-1a2b-4c3d-8e9f-001122334455';

it('adds a prefix to the id without hyphens, and reverses it', () => {
  const flat = toFlatId('file-', ID);
  expect(flat).toBe('file-0b9c2f4e1a2b4c3d8e9f001122334455');
  expect(flatId('file-', 'file').parse(flat)).toBe(flat);
  expect(fromFlatId(flat)).toBe(ID);
});

it('refuses everything else', () => {
  for (const other of [
    'file-',
    ID,
    `job-${ID}`,
    `${toFlatId('file-', ID)}0`,
    toFlatId('file-', ID).toUpperCase(),
  ])
    expect(flatId('file-', 'file').safeParse(other).error?.issues[0]?.message).toBe('No file has this id');
});
