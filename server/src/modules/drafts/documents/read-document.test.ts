import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DOCUMENT_PAGES_MAX } from '@bakehouse/contract/drafts';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { makeDocx, makePdf } from '../testing/make-documents.ts';
import { readDocument } from './read-document.ts';
import { toText } from './read-pdf.ts';

const dir = await temporaryFolder();
const read = async (name: string, bytes: Buffer | string) => {
  const file = path.join(dir, name);
  await writeFile(file, bytes);
  return readDocument(file, name);
};

test('reads the text of each PDF page in paragraphs; a page with only a picture is empty', async () => {
  const pages = [['Rye bread needs a', 'long rest.', '', 'Spelt bread does not.'], [], ['Oats come last.']];
  expect(await read('bread.pdf', makePdf(pages))).toEqual([
    { page: 1, heading: null, text: 'Rye bread needs a\nlong rest.\n\nSpelt bread does not.' },
    { page: 2, heading: null, text: '' },
    { page: 3, heading: null, text: 'Oats come last.' },
  ]);
});

test('rejoins a hyphenated word and starts a new paragraph at a new column', () => {
  const line = (str: string, y: number) => ({ str, hasEOL: true, transform: [12, 0, 0, 12, 72, y] });
  expect(toText([line('The leav-', 700), line('ening rests.', 686), line('Top', 700)])).toBe(
    'The leavening rests.\n\nTop',
  );
});

test('a Word document has text under its headings, and tables by rows', async () => {
  const docx = await makeDocx([
    { text: 'Welcome.' },
    { heading: 'Opening hours' },
    { text: 'At seven.' },
    {
      cells: [
        ['Loaf', 'Price'],
        ['Rye', '4'],
      ],
    },
  ]);
  expect(await read('Handbook.DOCX', docx)).toEqual([
    { page: null, heading: null, text: 'Welcome.' },
    { page: null, heading: 'Opening hours', text: 'Opening hours\n\nAt seven.\n\nLoaf | Price\nRye | 4' },
  ]);
});

test('reads Markdown by heading and ignores headings in fenced code', async () => {
  const markdown =
    '---\ntitle: x\n---\nIntro\n\n# Rye ##\nLong rest.\n\n```sh\n# no heading\n```\n## Oats\nLast.';
  expect(await read('bread.md', markdown)).toEqual([
    { page: null, heading: null, text: 'Intro' },
    { page: null, heading: 'Rye', text: 'Rye\n\nLong rest.\n\n```sh\n# no heading\n```' },
    { page: null, heading: 'Oats', text: 'Oats\n\nLast.' },
  ]);
});

test.each<[string, string | Buffer, string]>([
  ['no.pdf', 'This is no PDF', 'is not a PDF that can be read'],
  [
    'loop.pdf',
    makePdf([['a'], ['b']])
      .toString('latin1')
      .replace('[4 0 R 6 0 R] /Count 2', '[2 0 R 2 0 R] /Count 9'),
    'is damaged. Save it again and add it.',
  ],
  ['no.docx', 'This is no archive', 'is not a Word document that can be read'],
  ['latin.txt', Buffer.from('Br\xf6tchen', 'latin1'), 'is not UTF-8 text'],
  [
    'long.pdf',
    makePdf(Array.from({ length: DOCUMENT_PAGES_MAX + 1 }, () => ['x'])),
    `has ${DOCUMENT_PAGES_MAX + 1} pages, and a document can have ${DOCUMENT_PAGES_MAX}`,
  ],
])('rejects %s with a message', async (name, bytes, sentence) => {
  await expect(read(name, bytes)).rejects.toThrow(sentence);
});
