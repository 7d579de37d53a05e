import { expect, test } from 'vitest';
import { navGroups } from '../navigation/nav-items.ts';
import { sidebarWords } from './sidebar-words.ts';

test('every page of the sidebar is found by other names too, and nothing else has any', () => {
  const labels = navGroups({ is_operator: true }).flatMap(({ items }) => items.map(({ label }) => label));
  expect(Object.keys(sidebarWords)).toEqual(labels);
});
