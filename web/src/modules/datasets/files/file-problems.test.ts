import { expect, test } from 'vitest';
import { fileProblem } from './file-problems.ts';

const good = {
  ...{ columns: ['q', 'a'], rows: [['1', '2']], total_rows: 1, broken: [], broken_count: 0 },
  ...{ format: null, format_problem: null },
};
const broken = [{ line: 63, reason: '1 field instead of 2' }];
const mend =
  'Put values that contain the separator in double quotes, and give each line as many fields as the first.';

test.each([
  [good, null],
  [{ ...good, total_rows: null }, null],
  [{ ...good, broken, broken_count: 1 }, `1 row cannot be read. Line 63: 1 field instead of 2. ${mend}`],
  [
    { ...good, rows: [], total_rows: 0, broken, broken_count: 900 },
    `None of its rows can be read. Line 63: 1 field instead of 2. ${mend}`,
  ],
  [{ ...good, rows: [], total_rows: 0 }, 'It has a header but no rows.'],
  [{ ...good, columns: [], rows: [], total_rows: 0 }, 'It has no rows.'],
])('%j', (preview, sentence) => {
  expect(fileProblem(preview)).toBe(sentence);
});
