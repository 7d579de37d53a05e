import { expect, test } from 'vitest';
import { combine, fieldOf, type RowChange, shownText, toEdits, toJson } from './row-changes.ts';

const row = { at: 4, was: '{"a":"1"}' };

test('combines the changes of a row, and drops those without effect', () => {
  const changed: RowChange[] = [
    { ...row, cells: { a: '"2"' } },
    { ...row, cells: { b: '[3]' } },
  ];
  expect(toEdits(combine(changed))).toEqual([{ ...row, cells: '{"a":"2","b":[3]}' }]);
  const deleted = [...changed, { ...row, cells: null }];
  expect(toEdits(combine(deleted))).toEqual([{ ...row, cells: null }]);
  expect(toEdits(combine([...deleted, { ...row, cells: {} }]))).toEqual([]);

  const added = { at: -1, was: null, cells: { a: '12345678901234567890' } };
  expect(toEdits(combine([added]))).toEqual([{ cells: '{"a":12345678901234567890}' }]);
  expect(toEdits(combine([added, { ...added, cells: null }]))).toEqual([]);
  expect(toEdits(combine([{ ...added, cells: {} }]))).toEqual([{ cells: '{}' }]);
});

test('edits text as it is, and other values as JSON with all their digits', () => {
  const json = { type: 'mixed', isCsv: false } as const;
  expect(fieldOf('say "hi"', 'say "hi"', json)).toMatchObject({ text: 'say "hi"', isJson: false });
  expect(fieldOf(Number('12345678901234567890'), '12345678901234567890', json)).toMatchObject({
    text: '12345678901234567890',
    isJson: true,
  });
  expect(fieldOf({ a: ['1234567890123456'] }, '', json)).toMatchObject({ isJson: true, isLocked: false });
  expect(fieldOf({ a: [1234567890123456] }, '', json)).toMatchObject({ isLocked: true });
  expect(fieldOf('12 bytes', '12 bytes', { type: 'bytes', isCsv: false })).toMatchObject({ isLocked: true });
  expect(fieldOf(null, null, { type: 'number', isCsv: false })).toMatchObject({ text: '', isJson: true });
  expect(fieldOf('', '', { type: 'number', isCsv: true })).toMatchObject({ text: '', isJson: false });
});

test('does not mix the changes of two rows that had the same index', () => {
  const other = { ...row, was: '{"a":"2"}' };
  const changes = combine([
    { ...row, cells: { a: '"old"' } },
    { ...other, cells: { b: '"new"' } },
  ]);
  expect(changes.get(4)).toEqual({ ...other, cells: { b: '"new"' } });
});

test('reads what was typed', () => {
  expect([toJson('4', false), toJson(' 4 ', true), toJson(' ', true), toJson('four', true)]).toEqual([
    '"4"',
    '4',
    'null',
    null,
  ]);
  expect(['"a"', '""', 'null', '[1]'].map(shownText)).toEqual(['a', null, null, '[1]']);
});
