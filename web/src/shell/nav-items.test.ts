import { expect, test } from 'vitest';
import { isSelected, navGroups, type PageItem } from './nav-items.ts';

const labels = (groups: ReturnType<typeof navGroups>) =>
  groups.flatMap(({ items }) => items.map(({ label }) => label));
const item = (label: string): PageItem => {
  const all = navGroups({ is_operator: true }).flatMap(({ items }) => items);
  const found = all.find((one) => one.label === label);
  if (!found) throw new Error(`There is no item ${label}`);
  return found;
};

test('operators see one group more, visitors what is public', () => {
  expect(labels(navGroups({ is_operator: true }))).toContain('Ledger');
  expect(labels(navGroups({ is_operator: false }))).not.toContain('Ledger');
  expect(labels(navGroups(undefined))).toEqual(labels(navGroups({ is_operator: false })));
  expect(labels(navGroups(null))).toEqual(['API Reference']);
});

test('a page marks its item, also from below', () => {
  const at = { pathname: '/dataset/d1/description', sheet: undefined };
  expect(isSelected(item('My Datasets'), at)).toBe(true);
  expect(isSelected(item('My Models'), at)).toBe(false);
});

test('a sheet marks an item while it is open, and then the page has its mark back', () => {
  const open = { pathname: '/dashboard', sheet: { page: '/model' } };
  expect(isSelected(item('My Models'), open)).toBe(true);
  expect(isSelected(item('Dashboard'), open)).toBe(false);
  expect(isSelected(item('Dashboard'), { ...open, sheet: undefined })).toBe(true);
  // A sheet that belongs nowhere leaves the page its mark.
  expect(isSelected(item('Dashboard'), { ...open, sheet: {} })).toBe(true);
});
