import { type ProductPictureName, productPictures } from '../../ui/product-picture.tsx';
import { forDevelopers, sections } from './sections.ts';

/** A page of `docs/`: its path without the extension, such as `decisions/usage-windows`. */
export type Document = { path: string; title: string; load: () => Promise<string> };

const FOLDER = '../../../../docs/';
const titles = import.meta.glob<string>('../../../../docs/**/*.md', {
  query: '?title',
  import: 'default',
  eager: true,
});
const texts = import.meta.glob<string>('../../../../docs/**/*.md', { query: '?raw', import: 'default' });

/** The server's address as written in the examples; replaced by the current one. */
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

/** Returns a document that links to each decision. */
function listDecisions(): string {
  const links = decisions.map(({ path, title }) => `- [${title}](${path}.md)`);
  return ['Why Bakehouse is built this way, one record per decision.', '', ...links].join('\n');
}

/** Returns the document at this path, or undefined. */
export function findDocument(path: string): Document | undefined {
  return [...documents, ...decisions].find((document) => document.path === path);
}

/** Returns every document, including each decision. */
export function listAllDocuments(): Document[] {
  return written;
}

/** Returns the sections of the list in reading order, without documents for developers. */
export function listSections(): { label: string; documents: Document[] }[] {
  const named = new Set<string>([...forDevelopers, ...sections.flatMap(({ paths }) => paths)]);
  return sections.map(({ label, paths }) => {
    const inOrder = paths.flatMap((path) => findDocument(path) ?? []);
    const others = documents.filter(({ path }) => label === 'How it works' && !named.has(path));
    return { label, documents: [...inOrder, ...others] };
  });
}

/** Returns the document and heading that a link leads to, or null if it leads to another file. */
export function resolveLink(from: string, href: string): { path: string; hash: string } | null {
  const { file, hash } = resolveFile(from, href);
  const path = /^docs\/(.+)\.md$/.exec(file)?.[1];
  return path && findDocument(path) ? { path, hash: hash.slice(1) } : null;
}

/** Returns the product picture that a document shows, or null. */
export function resolvePicture(from: string, src: string): ProductPictureName | null {
  const { file } = resolveFile(from, src);
  return productPictures.find((name) => file === `web/public/pictures/${name}-light.webp`) ?? null;
}

/** Returns the path of a linked file in the repository; empty for other URLs. */
function resolveFile(from: string, href: string): { file: string; hash: string } {
  const repository = 'file:///repository/';
  const { href: url, hash } = new URL(href, `${repository}docs/${from}.md`);
  const [file = ''] = url.split('#');
  return { file: file.startsWith(repository) ? file.slice(repository.length) : '', hash };
}
