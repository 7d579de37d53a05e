import type { Section } from './section.ts';

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
