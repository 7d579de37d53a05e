import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { DOCUMENT_PAGES_MAX } from '@bakehouse/contract/drafts';
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { TextItem } from 'pdfjs-dist/types/src/display/api.js';
import { type Section, UnreadableDocument } from './sections.ts';

/** A gap between lines starts a new paragraph if it exceeds the median line distance by this factor. */
const PARAGRAPH_GAP = 1.35;

const folderOf = (name: string) =>
  fileURLToPath(new URL(name, import.meta.resolve('pdfjs-dist/package.json')));

/**
 * Returns the text of each page. Throws UnreadableDocument for an invalid or password-protected PDF, or too
 * many pages.
 */
export async function readPdf(localPath: string): Promise<Section[]> {
  const task = getDocument({
    data: new Uint8Array(await readFile(localPath)),
    verbosity: VerbosityLevel.ERRORS,
    cMapUrl: folderOf('cmaps/'),
    standardFontDataUrl: folderOf('standard_fonts/'),
  });
  const pdf = await task.promise.catch((error: unknown) => {
    throw new UnreadableDocument(
      error instanceof Error && error.name === 'PasswordException'
        ? 'needs a password. Save it without one and add it again.'
        : 'is not a PDF that can be read. Save it again as PDF and add it.',
      { cause: error },
    );
  });
  if (pdf.numPages > DOCUMENT_PAGES_MAX)
    throw new UnreadableDocument(
      `has ${pdf.numPages} pages, and a document can have ${DOCUMENT_PAGES_MAX}. Split it and add the parts.`,
    );
  const sections: Section[] = [];
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    sections.push({ page: number, heading: null, text: toText(items.filter((item) => 'str' in item)) });
    page.cleanup();
  }
  return sections;
}

type Line = { text: string; y: number };

/** Joins lines, rejoins hyphenated words, and separates paragraphs by an empty line. */
export function toText(items: readonly Pick<TextItem, 'str' | 'hasEOL' | 'transform'>[]): string {
  const lines = toLines(items);
  const gaps = lines.slice(1).map(({ y }, at) => (lines[at]?.y ?? y) - y);
  const usual = median(gaps.filter((gap) => gap > 0));
  return lines
    .map(({ text }, at) => {
      const gap = gaps[at - 1] ?? 0;
      // A line above the previous one starts a new column.
      const isParagraph = at > 0 && (gap > usual * PARAGRAPH_GAP || gap < -usual / 2);
      return (isParagraph ? '\n\n' : '\n') + text;
    })
    .join('')
    .replace(/(\p{Ll})[-\u00ad]\n(?=\p{Ll})/gu, '$1')
    .trim();
}

function toLines(items: readonly Pick<TextItem, 'str' | 'hasEOL' | 'transform'>[]): Line[] {
  const lines: Line[] = [];
  let line: Line | null = null;
  for (const { str, hasEOL, transform } of items) {
    line ??= { text: '', y: Number(transform[5]) };
    line.text += str;
    if (!hasEOL) continue;
    lines.push(line);
    line = null;
  }
  if (line) lines.push(line);
  return lines.map(({ text, y }) => ({ text: text.trim(), y })).filter(({ text }) => text !== '');
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)] ?? 0;
}
