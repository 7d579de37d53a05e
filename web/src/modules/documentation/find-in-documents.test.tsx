import { render } from '@testing-library/react';
import rehypeSlug from 'rehype-slug';
import { expect, test } from 'vitest';
import MarkdownContent from '../../ui/markdown-content.tsx';
import { listAllDocuments } from './documents.ts';
import { findInDocuments, splitSections } from './find-in-documents.ts';

test.each([
  ['idempotency', 'ledger', 'idempotency'],
  ['webhook stripe', 'ledger', 'purchases-and-codes'],
  ['trigger word', 'fine-tuning', 'picture-models'],
  // Also finds an incomplete word, and a misspelled one.
  ['redee', 'ledger', 'purchases-and-codes'],
  ['embedings', 'api', 'embeddings'],
])('finds %s', async (words, path, hash) => {
  const found = await findInDocuments(words);
  expect(found.map((one) => `${one.path}#${one.hash}`)).toContain(`${path}#${hash}`);
  for (const { excerpt } of found) expect(excerpt.length).toBeLessThan(160);
});

test('does not find words that never occur together', async () => {
  expect(await findInDocuments('sourdough kubernetes stripe')).toEqual([]);
});

test('a section ends at the next heading; a comment in an example does not start one', () => {
  const text =
    '# Title\n\nBefore.\n\n## A `b` [c](d.md)\n\n```sh\n# no heading\nrun\n```\n\n## A `b` c\n\nEnd.\n';
  expect(splitSections({ path: 'x', title: 'Title' }, text)).toMatchObject([
    { hash: '', heading: '', text: expect.stringContaining('Before.') },
    { hash: 'a-b-c', heading: 'A b c', text: expect.stringContaining('# no heading\nrun') },
    { hash: 'a-b-c-1', heading: 'A b c', text: expect.stringContaining('End.') },
  ]);
});

test('each found section has the anchor of its heading', async () => {
  for (const document of listAllDocuments().filter(({ path }) => !path.startsWith('decisions/'))) {
    const text = await document.load();
    const { container, unmount } = render(
      <MarkdownContent text={text} rehypePlugins={[rehypeSlug]} own={own} />,
    );
    const ids = [...container.querySelectorAll('h2,h3,h4,h5,h6')].map(({ id }) => id);
    unmount();
    const hashes = splitSections(document, text).flatMap(({ hash }) => hash || []);
    expect(hashes, document.path).toEqual(ids);
  }
});

const own = Object.fromEntries(
  (['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const).map((level) => [level, level]),
);
