/** A document cannot be read. The message is shown to the user after the document's name. */
export class UnreadableDocument extends Error {}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/;

/** Returns the text under each heading, including the heading. */
export function headedSections(blocks: Iterable<{ heading: boolean; text: string }>): Section[] {
  const sections: { heading: string | null; blocks: string[] }[] = [];
  for (const { heading, text } of blocks) {
    const trimmed = text.trim();
    if (trimmed === '') continue;
    if (heading || sections.length === 0)
      sections.push({ heading: heading ? trimmed.replace(/\s+/g, ' ') : null, blocks: [] });
    sections.at(-1)?.blocks.push(trimmed);
  }
  return sections.map(({ heading, blocks: texts }) => ({ page: null, heading, text: texts.join('\n\n') }));
}

/**
 * A part of a document: a page of a PDF, or the text under a heading. Plain text has neither page nor
 * heading.
 */
export type Section = { page: number | null; heading: string | null; text: string };

/** Returns the text under each heading. Skips front matter, and ignores headings in fenced code. */
export function readMarkdown(markdown: string): Section[] {
  const text = markdown.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, '');
  return headedSections(blocksOf(text.split(/\r?\n/)));
}

function* blocksOf(lines: readonly string[]) {
  let fence: string | null = null;
  let block: string[] = [];
  for (const line of lines) {
    const mark = FENCE.exec(line)?.[1];
    const heading = fence === null ? HEADING.exec(line)?.[1] : undefined;
    if (fence === null && mark) fence = mark;
    else if (fence !== null && mark?.startsWith(fence)) fence = null;
    if (heading === undefined) {
      block.push(line);
      continue;
    }
    yield { heading: false, text: block.join('\n') };
    yield { heading: heading !== '', text: heading };
    block = [];
  }
  yield { heading: false, text: block.join('\n') };
}
