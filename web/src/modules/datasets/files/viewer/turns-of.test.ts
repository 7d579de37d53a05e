import { expect, it } from 'vitest';
import { turnsOf } from './turns-of.ts';

const said = [{ role: 'user', content: 'Hi' }];

it.each([
  ['messages', said],
  ['the messages of an input', { messages: said }],
  ['turns of ShareGPT', [{ from: 'user', value: 'Hi' }]],
])('reads %s', (_what, value) => {
  expect(turnsOf(value)).toEqual(said);
});

it.each([null, 'Hi', [], {}, ['Hi'], [...said, 'Hi'], [{ role: 'user', content: ['Hi'] }], [said]])(
  '%j contains no turns',
  (value) => {
    expect(turnsOf(value)).toBeNull();
  },
);
