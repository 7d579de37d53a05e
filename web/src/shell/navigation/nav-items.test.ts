import { Send } from 'lucide-react';
import { expect, test } from 'vitest';
import type { SheetName } from '../../lib/sheet.ts';
import { findSelected, hidesSidebar, type NavGroup, navGroups } from './nav-items.ts';

const labels = (groups: ReturnType<typeof navGroups>) =>
  groups.flatMap(({ items }) => items.map(({ label }) => label));
const groups = navGroups({ is_operator: false });
const marked = (pathname: string, sheet?: { name: string; page?: string }, among = groups) =>
  findSelected(among, { pathname, sheet })?.label;

test('groups are in the specified order', () => {
  expect(groups.map(({ label, items }) => [label, ...items.map((item) => item.label)])).toEqual([
    [null, 'Dashboard', 'Profile', 'Chat', 'Instant Generation'],
    ['Deployments', 'Deploy Models', 'My Datasets', 'My Models', 'Diffusion Training', 'LLM Training'],
    [null, 'API-Key'],
    ['Billing & Usage', 'Buy Credits', 'Send Credits', 'Transaction History'],
    [null, 'Invite friends'],
    ['Get Help', 'Documentation', 'Contact Us'],
  ]);
});

test('operators see one more group, and visitors only public items', () => {
  expect(labels(navGroups({ is_operator: true }))).toContain('Ledger');
  expect(labels(groups)).not.toContain('Ledger');
  expect(labels(navGroups(undefined))).toEqual(labels(groups));
  expect(labels(navGroups(null))).toEqual(['Documentation']);
});

test('the documentation is an internal page, or a link if the settings define one', () => {
  const documentation = (url?: string) =>
    navGroups(null, url)
      .flatMap(({ items }) => items)
      .find(({ label }) => label === 'Documentation');
  expect(documentation()).toMatchObject({ kind: 'route', to: '/docs' });
  expect(documentation('https://docs.example')).toMatchObject({ kind: 'link', href: 'https://docs.example' });
});

test('a page highlights its item, also on subpages and related pages', () => {
  expect(marked('/dataset')).toBe('My Datasets');
  expect(marked('/dataset/d1/description')).toBe('My Datasets');
  expect(marked('/datasets')).toBeUndefined();
  expect(marked('/transactions')).toBe('Transaction History');
  expect(marked('/gallery/g1')).toBe('Instant Generation');
  expect(marked('/paris')).toBe('Instant Generation');
  expect(marked('/bakery/flux-kontext')).toBe('Instant Generation');
});

test("a sheet highlights an item while it is open, and then the page's item is highlighted again", () => {
  const ofPage = { name: 'create-model', page: '/model' };
  expect(marked('/dashboard', ofPage)).toBe('My Models');
  expect(marked('/dashboard')).toBe('Dashboard');
  // A sheet without a page leaves the page's item highlighted.
  expect(marked('/dashboard', { name: 'other' })).toBe('Dashboard');
});

test('highlights a sheet that is an item itself', () => {
  const own = { kind: 'sheet', label: 'Own', sheet: 'own' as SheetName, icon: Send } as const;
  const among: NavGroup[] = [...groups, { label: null, items: [own] }];
  expect(marked('/dashboard', { name: 'own' }, among)).toBe('Own');
  expect(marked('/dashboard', { name: 'own', page: '/model' }, among)).toBe('Own');
  expect(marked('/dashboard', undefined, among)).toBe('Dashboard');
});

test('the sidebar is hidden on paths ending in dataset, market or model only', () => {
  for (const path of ['/dataset', '/market', '/model', '/bakery/model'])
    expect(hidesSidebar(path)).toBe(true);
  for (const path of ['/dashboard', '/model/source', '/dataset/1/description', '/my-model'])
    expect(hidesSidebar(path)).toBe(false);
});
