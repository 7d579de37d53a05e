import { expect, test } from 'vitest';
import { findMarkers } from './find-markers.ts';
import { readProse } from './read-prose.ts';

test('finds phrases that plain English avoids', () => {
  expect(findMarkers('Whoever asks waits where there is no room')).toHaveLength(2);
  expect(findMarkers('Deletes the row if its lease expired')).toEqual([]);
});

test('ignores phrases in code', () => {
  expect(findMarkers('Reads `beside` from the query')).toEqual([]);
});

test('reads comments and titles of TypeScript', () => {
  const source =
    "// First line\n// second line\nconst url = 'a // b';\n/** Adds. */\ntest('adds', () => {});\n";
  expect(readProse('a.test.ts', source)).toEqual([
    { kind: 'comments', line: 1, text: 'First line second line' },
    { kind: 'comments', line: 4, text: 'Adds.' },
    { kind: 'test titles', line: 5, text: 'adds' },
  ]);
});

test('reads comments, docstrings and titles of Python', () => {
  const source = 'def test_adds_numbers():\n    """Adds."""\n    # Why\n';
  expect(readProse('test_a.py', source).map(({ kind, text }) => [kind, text])).toEqual([
    ['comments', 'Why'],
    ['comments', 'Adds.'],
    ['test titles', 'adds numbers'],
  ]);
});

test('reads comments of SQL and of configuration files', () => {
  expect(readProse('a.sql', '-- Adds.\nselect 1;\n')).toEqual([{ kind: 'comments', line: 1, text: 'Adds.' }]);
  expect(readProse('a.yaml', 'a: 1\n  # Why\n')).toEqual([{ kind: 'comments', line: 2, text: 'Why' }]);
  expect(readProse('a.sh', '#!/bin/sh\n# Why\n')).toEqual([{ kind: 'comments', line: 2, text: 'Why' }]);
});

test('reads the sentences of a page without its code', () => {
  const page = 'One. Two: three\n```\ncode\n```\n| cell | other |\n';
  expect(readProse('a.md', page).map(({ text }) => text)).toEqual(['One.', 'Two:', 'three', 'cell', 'other']);
});
