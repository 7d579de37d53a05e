import mammoth from 'mammoth';
import * as z from 'zod';
import { headedSections, type Section, UnreadableDocument } from './sections.ts';

/** The fields of mammoth's intermediate document that text extraction needs. */
type Element = { type: string; value?: string; styleName?: string | null; children: Element[] };
const element: z.ZodType<Element> = z.object({
  type: z.string(),
  value: z.string().optional(),
  styleName: z.string().nullish(),
  get children() {
    return z.array(element).default([]);
  },
});

/**
 * Returns the text under each heading; tables as rows of cells. Throws UnreadableDocument for an invalid Word
 * document.
 */
export async function readDocx(localPath: string): Promise<Section[]> {
  let root: unknown;
  const captureDocument = (document: unknown) => {
    root = document;
    return document;
  };
  await mammoth
    .convertToHtml({ path: localPath }, { transformDocument: captureDocument })
    .catch((cause: unknown) => {
      throw new UnreadableDocument(
        'is not a Word document that can be read. Save it again as .docx and add it.',
        { cause },
      );
    });
  return headedSections(element.parse(root).children.flatMap(blocksOf));
}

function blocksOf(block: Element): { heading: boolean; text: string }[] {
  const { type, styleName, children } = block;
  if (type === 'table') return [{ heading: false, text: children.map(rowText).join('\n') }];
  return [
    { heading: type === 'paragraph' && /^(heading|title)/i.test(styleName ?? ''), text: textOf(block) },
  ];
}

function rowText({ children }: Element): string {
  return children
    .map((cell) =>
      textOf(cell)
        .trim()
        .replace(/\s*\n\s*/g, ' '),
    )
    .join(' | ');
}

function textOf({ type, value = '', children }: Element): string {
  if (type === 'text') return value;
  if (type === 'tab') return '\t';
  if (type === 'break') return '\n';
  return children.map(textOf).join('') + (type === 'paragraph' ? '\n' : '');
}
