import { describe, expect, test } from 'vitest';
import { cleanFileName } from './clean-path.ts';

describe('cleanFileName', () => {
  test.each([
    ['train.csv', 'train.csv'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\ada\\data.json', 'data.json'],
    ['/absolute.txt', 'absolute.txt'],
    ['  spaced name.txt ', 'spaced name.txt'],
    ['a\u0000b\nc\u202Etxt.csv', 'abctxt.csv'],
    ['Zu\u0308rich.csv', 'Zürich.csv'],
    ['.gitattributes', '.gitattributes'],
    ['..hidden', '..hidden'],
    ['the %22good%22 rows 100%.csv', 'the "good" rows 100%.csv'],
  ])('converts %j to %j', (sent, kept) => {
    expect(cleanFileName(sent)).toBe(kept);
  });

  test.each(['', '.', '..', '../..', 'folder/', '\u0007', '   '])('rejects %j', (sent) => {
    expect(() => cleanFileName(sent)).toThrow('The file needs a name');
  });

  test('rejects a name of more than 255 bytes', () => {
    expect(() => cleanFileName(`${'ü'.repeat(128)}.csv`)).toThrow('longer than 255 bytes');
  });
});
