import { type ProductPictureName, productPictures } from '../../ui/product-picture.tsx';
import { sections } from './sections.ts';

/** A page of `docs/`: its path without the ending, e.g. `decisions/usage-windows`. */
export type Document = { path: string; title: string; load: () => Promise<string> };

const FOLDER = '../../../../docs/';
const titles = import.meta.glob<string>('../../../../docs/**/*.md', {
  query: '?title',
  import: 'default',
  eager: true,
});
const texts = import.meta.glob<string>('../../../../docs/**/*.md', { query: '?raw', import: 'default' });

/** The server's address in the examples, until it is read at another one. */
const WRITTEN_ORIGIN = 'http://localhost:4080';

/** The page that lists the decisions. */
export const DECISIONS = 'decisions';

const written: Document[] = Object.entries(texts).map(([file, load]) => ({
  path: file.slice(FOLDER.length, -'.md'.length),
  title: titles[file] ?? '',
  load: async () => (await load()).replaceAll(WRITTEN_ORIGIN, window.location.origin),
}));
const decisions = written.filter(({ path }) => isDecision(path));
const documents: Document[] = [
  ...written.filter(({ path }) => !isDecision(path)),
  { path: DECISIONS, title: 'Decisions', load: () => Promise.resolve(listDecisions()) },
];

function isDecision(path: string): boolean {
  return path.startsWith(`${DECISIONS}/`);
}

/** As a document: each decision with a link. */
function listDecisions(): string {
  const links = decisions.map(({ path, title }) => `- [${title}](${path}.md)`);
  return ['Why Bakehouse is built as it is, one record for each decision.', '', ...links].join('\n');
}

/** The document at this path; undefined where there is none. */
export function findDocument(path: string): Document | undefined {
  return [...documents, ...decisions].find((document) => document.path === path);
}

/** Every document, the decisions one by one. */
export function listAllDocuments(): Document[] {
  return written;
}

/** The documents under their headings, in the order in which they are read; the decisions are one of them. */
export function listSections(): { label: string; documents: Document[] }[] {
  const named = new Set<string>(sections.flatMap(({ paths }) => paths));
  return sections.map(({ label, paths }) => {
    const inOrder = paths.flatMap((path) => findDocument(path) ?? []);
    const others = documents.filter(({ path }) => label === 'How it works' && !named.has(path));
    return { label, documents: [...inOrder, ...others] };
  });
}

/** The document and its part that a link in a document leads to; null where it leads to a file that is no document. */
export function resolveLink(from: string, href: string): { path: string; hash: string } | null {
  const { file, hash } = resolveFile(from, href);
  const path = /^docs\/(.+)\.md$/.exec(file)?.[1];
  return path && findDocument(path) ? { path, hash: hash.slice(1) } : null;
}

/** The product's picture that a document shows; null where it is none of them. */
export function resolvePicture(from: string, src: string): ProductPictureName | null {
  const { file } = resolveFile(from, src);
  return productPictures.find((name) => file === `web/public/pictures/${name}-light.webp`) ?? null;
}

/** The file that a document names, as its path in the repository; empty where it is none. */
function resolveFile(from: string, href: string): { file: string; hash: string } {
  const repository = 'file:///repository/';
  const { href: url, hash } = new URL(href, `${repository}docs/${from}.md`);
  const [file = ''] = url.split('#');
  return { file: file.startsWith(repository) ? file.slice(repository.length) : '', hash };
}
