import GithubSlugger from 'github-slugger';
import MiniSearch, { type SearchResult } from 'minisearch';
import { type Document, listAllDocuments } from './documents.ts';
import { sections } from './sections.ts';

/** A part of a document below one heading; `hash` and `heading` are empty before the first heading. */
export type Section = { path: string; title: string; hash: string; heading: string; text: string };
export type Found = Section & { excerpt: string };

const FOUND_MAX = 12;
const EXCERPT_CHARS = 140;

let index: Promise<MiniSearch<Section & { id: string }>> | null = null;

/** Returns the sections that contain all words, best matches first. */
export async function findInDocuments(words: string): Promise<Found[]> {
  index ??= buildIndex();
  const searched = await index.catch((error: unknown) => {
    // Discard the failed index, so that the next search downloads it again.
    index = null;
    throw error;
  });
  return searched
    .search(words)
    .slice(0, FOUND_MAX)
    .map((result) => toFound(result));
}

async function buildIndex(): Promise<MiniSearch<Section & { id: string }>> {
  const built = new MiniSearch<Section & { id: string }>({
    fields: ['title', 'heading', 'text'],
    storeFields: ['path', 'title', 'hash', 'heading', 'text'],
    searchOptions: {
      combineWith: 'AND',
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      boost: { title: 4, heading: 3 },
      boostDocument: (id) => importanceOf(String(id).split('#')[0] ?? ''),
    },
  });
  const texts = await Promise.all(
    listAllDocuments().map(async (document) => splitSections(document, await document.load())),
  );
  built.addAll(texts.flat().map((section) => ({ ...section, id: `${section.path}#${section.hash}` })));
  return built;
}

const forUsers = new Set<string>(sections[0].paths);

/** Ranks guides for users above pages on how Bakehouse works, and these above decisions. */
function importanceOf(path: string): number {
  if (forUsers.has(path)) return 2;
  return path.startsWith('decisions/') ? 0.5 : 1;
}

/** Splits a markdown document into sections. */
export function splitSections(
  { path, title }: Pick<Document, 'path' | 'title'>,
  markdown: string,
): Section[] {
  const slugger = new GithubSlugger();
  const found: Section[] = [{ path, title, hash: '', heading: '', text: '' }];
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    const heading = isCode ? null : /^#{2,6} (.+?)\s*$/.exec(line)?.[1];
    if (heading) {
      const written = plain(heading);
      found.push({ path, title, hash: slugger.slug(written), heading: written, text: '' });
    } else if (isCode || !line.startsWith('# ')) {
      const last = found.at(-1);
      if (last) last.text += `${plain(line)}\n`;
    }
  }
  return found.filter(({ heading, text }) => heading !== '' || text.trim() !== '');
}

/** Removes markdown syntax. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|`/g, '')
    .replace(/^[-|>\s]+|[|\s]+$/g, '')
    .replace(/\s*\|\s*/g, ', ');
}

function toFound({ path, title, hash, heading, text, terms }: SearchResult): Found {
  return { path, title, hash, heading, text, excerpt: excerptOf(text, terms) };
}

/** Returns the part of a text around the first term. */
function excerptOf(text: string, terms: string[]): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const at = Math.max(0, ...terms.slice(0, 1).map((term) => flat.toLowerCase().indexOf(term)));
  const from = at < EXCERPT_CHARS / 2 ? 0 : flat.lastIndexOf(' ', at - EXCERPT_CHARS / 4) + 1;
  const excerpt = flat.slice(from, from + EXCERPT_CHARS);
  return `${from > 0 ? '… ' : ''}${excerpt}${from + EXCERPT_CHARS < flat.length ? ' …' : ''}`;
}
