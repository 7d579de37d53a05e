import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { documentKinds } from '@bakehouse/contract/drafts';
import { readDocx } from './read-docx.ts';
import { readPdf } from './read-pdf.ts';
import { readMarkdown, type Section, UnreadableDocument } from './sections.ts';

type Kind = (typeof documentKinds)[number];

const readers: Record<Kind, (localPath: string) => Promise<Section[]>> = {
  '.pdf': readPdf,
  '.docx': readDocx,
  '.md': async (localPath) => readMarkdown(await readText(localPath)),
  '.txt': async (localPath) => [{ page: null, heading: null, text: await readText(localPath) }],
};

/** Returns the sections of a document by its file extension. Throws UnreadableDocument. */
export async function readDocument(localPath: string, name: string): Promise<Section[]> {
  try {
    return await readers[path.extname(name).toLowerCase() as Kind](localPath);
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument('is damaged. Save it again and add it.', { cause: error });
  }
}

async function readText(localPath: string): Promise<string> {
  const bytes = await readFile(localPath);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UnreadableDocument('is not UTF-8 text. Save it as UTF-8 and add it again.', { cause });
  }
}
