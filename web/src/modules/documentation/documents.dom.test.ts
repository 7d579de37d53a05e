import { expect, test } from 'vitest';
import {
  DECISIONS,
  type Document,
  findDocument,
  listSections,
  resolveLink,
  resolvePicture,
} from './documents.ts';
import { FIRST_DOCUMENT, forDevelopers } from './sections.ts';

/** Returns all listed pages, those for developers, and the decisions. */
async function listAll(): Promise<Document[]> {
  const listed = listSections().flatMap(({ documents }) => documents);
  const unlisted = forDevelopers.flatMap((path) => findDocument(path) ?? []);
  const decisions = [...((await findDocument(DECISIONS)?.load()) ?? '').matchAll(/\]\(([^)]+)\.md\)/g)];
  return [...listed, ...unlisted, ...decisions.flatMap(([, path = '']) => findDocument(path) ?? [])];
}

test('every document is listed once, in a section or among the decisions, with its own title', async () => {
  const all = await listAll();
  expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
  expect(all[0]?.path).toBe(FIRST_DOCUMENT);
  expect(findDocument('decisions/usage-windows')?.title).toBe('Chat answers are charged by the window');
  expect(all.filter(({ path }) => path.startsWith('decisions/')).length).toBeGreaterThan(10);
  expect(listSections().flatMap(({ documents }) => documents).length).toBeLessThan(30);
  for (const { path, title } of all) expect(title, path).not.toBe('');
});

test('the list is for users: it leaves out the specification, the vocabulary and the decisions', () => {
  const listed = listSections().flatMap(({ documents }) => documents.map(({ path }) => path));
  expect(listed).toContain('ledger');
  for (const path of ['specification', 'vocabulary', 'decisions']) {
    expect(listed).not.toContain(path);
    expect(findDocument(path), path).toBeDefined();
  }
});

test('no document links to a missing document', async () => {
  for (const { path, load } of await listAll()) {
    const links = [...(await load()).matchAll(/\]\(([^)\s]+\.md)(?:#[^)]*)?\)/g)].map(
      ([, href = '']) => href,
    );
    for (const href of links) expect(resolveLink(path, href), `${href} in ${path}`).not.toBeNull();
  }
});

test('links between documents open pages, also from folders; other links stay files', () => {
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

test('the examples use the address of the current server', async () => {
  const text = await findDocument('api')?.load();
  expect(text).toContain(`BASE=\${BASE:-${window.location.origin}}`);
  expect(text).not.toContain('localhost:4080');
});
