import { expect, test } from 'vitest';
import { FIRST_DOCUMENT, findDocument, listSections, resolveLink, resolvePicture } from './documents.ts';

test('every document stands under one heading, with its own title', () => {
  const all = listSections().flatMap(({ documents }) => documents);
  expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
  expect(all[0]?.path).toBe(FIRST_DOCUMENT);
  expect(findDocument('decisions/usage-windows')?.title).toBe('Chat answers are charged by the window');
  expect(listSections().at(-1)?.documents.length).toBeGreaterThan(10);
  for (const { path, title } of all) expect(title, path).not.toBe('');
});

test('no document links to one that is not there', async () => {
  for (const { path, load } of listSections().flatMap(({ documents }) => documents)) {
    const links = [...(await load()).matchAll(/\]\(([^)\s]+\.md)(?:#[^)]*)?\)/g)].map(
      ([, href = '']) => href,
    );
    for (const href of links) expect(resolveLink(path, href), `${href} in ${path}`).not.toBeNull();
  }
});

test('a link between documents leads to the page, also from a folder; others stay files', () => {
  expect(resolveLink('engine', 'ledger.md#holds')).toEqual({ path: 'ledger', hash: 'holds' });
  expect(resolveLink('decisions/usage-windows', '../ledger.md')).toEqual({ path: 'ledger', hash: '' });
  expect(resolveLink('engine', '#leases')).toEqual({ path: 'engine', hash: 'leases' });
  expect(resolveLink('operations', '../.env.example')).toBeNull();
  expect(resolveLink('operations', '../../docs/ledger.md')).toBeNull();
  expect(resolvePicture('getting-started', '../web/public/pictures/run-light.webp')).toBe('run');
  expect(
    resolvePicture('getting-started', 'https://example.com/web/public/pictures/run-light.webp'),
  ).toBeNull();
});
