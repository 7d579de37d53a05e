import { expect, test } from 'vitest';
import { navGroups } from '../navigation/nav-items.ts';
import { matchCommands } from './match-commands.ts';
import { withWords } from './sidebar-words.ts';

const groups = [
  { value: 'Pages', items: navGroups({ is_operator: false }).flatMap(({ items }) => items.map(withWords)) },
];
const found = (typed: string) =>
  matchCommands(groups, typed).flatMap(({ items }) => items.map(({ label }) => label));

test('finds a page by its name, the start of a word, and synonyms', () => {
  expect(found('trans hist')).toEqual(['Transaction History']);
  expect(found('Bill')).toEqual(['Transaction History']);
  expect(found('chat')).toEqual(['Chat']);
  expect(found('terminate')).toEqual(['Deploy Models']);
  expect(found('password')).toEqual(['Profile']);
  expect(found('')).toHaveLength(groups[0]?.items.length ?? 0);
  expect(matchCommands(groups, 'sourdough')).toEqual([]);
});

test('keeps server results, whatever their titles', () => {
  const models = { value: 'Models', found: true, items: [{ label: 'SmolLM2-135M-Instruct' }] };
  expect(matchCommands([models], 'transformers')).toEqual([models]);
});
