import { expect, test } from 'vitest';
import { navGroups } from '../navigation/nav-items.ts';
import { sidebarWords } from './sidebar-words.ts';

test('every sidebar page has synonyms, and nothing else does', () => {
  const labels = navGroups({ is_operator: true }).flatMap(({ items }) => items.map(({ label }) => label));
  expect(Object.keys(sidebarWords)).toEqual(labels);
});
