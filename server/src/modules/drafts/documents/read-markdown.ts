import { headedSections } from './headed-sections.ts';
import type { Section } from './section.ts';

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/;

/** Returns the text under each heading, without front matter; fenced blocks are code and have no headings. */
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
