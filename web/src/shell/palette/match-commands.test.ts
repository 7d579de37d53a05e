import { expect, test } from 'vitest';
import { navGroups } from '../navigation/nav-items.ts';
import { matchCommands } from './match-commands.ts';
import { withWords } from './sidebar-words.ts';

const groups = [
  { value: 'Pages', items: navGroups({ is_operator: false }).flatMap(({ items }) => items.map(withWords)) },
];
const found = (typed: string) =>
  matchCommands(groups, typed).flatMap(({ items }) => items.map(({ label }) => label));

test('a page is found by its name, by the beginning of a word, and by what people call it', () => {
  expect(found('trans hist')).toEqual(['Transaction History']);
  expect(found('Bill')).toEqual(['Transaction History']);
  expect(found('chat')).toEqual(['Deploy Models']);
  expect(found('terminate')).toEqual(['Deploy Models']);
  expect(found('password')).toEqual(['Profile']);
  expect(found('')).toHaveLength(groups[0]?.items.length ?? 0);
  expect(matchCommands(groups, 'sourdough')).toEqual([]);
});

test('what the server found stays, whatever its title is', () => {
  const models = { value: 'Models', found: true, items: [{ label: 'SmolLM2-135M-Instruct' }] };
  expect(matchCommands([models], 'transformers')).toEqual([models]);
});
