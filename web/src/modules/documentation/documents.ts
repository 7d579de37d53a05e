import { type ProductPictureName, productPictures } from '../../ui/product-picture.tsx';

/** A page of `docs/`: its path without the ending, e.g. `decisions/usage-windows`. */
export type Document = { path: string; title: string; load: () => Promise<string> };

const FOLDER = '../../../../docs/';
const titles = import.meta.glob<string>('../../../../docs/**/*.md', {
  query: '?title',
  import: 'default',
  eager: true,
});
const texts = import.meta.glob<string>('../../../../docs/**/*.md', { query: '?raw', import: 'default' });

/** The page that `/docs` itself shows. */
export const FIRST_DOCUMENT = 'getting-started';

/** The order of the list; what is named nowhere comes under the last heading but one. */
const sections = [
  { label: 'Using Bakehouse', paths: [FIRST_DOCUMENT, 'api'] },
  { label: 'Running it', paths: ['operations'] },
  { label: 'How it works', paths: ['architecture', 'engine', 'text-serving', 'ledger', 'specification'] },
  { label: 'Decisions', paths: [] },
];
const DECISIONS = 'decisions/';

const documents: Document[] = Object.entries(texts).map(([file, load]) => ({
  path: file.slice(FOLDER.length, -'.md'.length),
  title: titles[file] ?? '',
  load,
}));

/** The document at this path; undefined where there is none. */
export function findDocument(path: string): Document | undefined {
  return documents.find((document) => document.path === path);
}

/** All documents under their headings, in the order in which they are read. */
export function listSections(): { label: string; documents: Document[] }[] {
  const named = new Set<string>(sections.flatMap(({ paths }) => paths));
  return sections.map(({ label, paths }) => {
    const inOrder = paths.flatMap((path) => findDocument(path) ?? []);
    const others = documents.filter(({ path }) =>
      label === 'Decisions'
        ? path.startsWith(DECISIONS)
        : label === 'How it works' && !path.startsWith(DECISIONS) && !named.has(path),
    );
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
