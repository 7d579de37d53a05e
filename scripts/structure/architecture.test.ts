import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../root.ts';
import { readSource } from './read-source.ts';

/** A row of the table "Ten paths": the files between a route and its SQL, in order. */
type Path = { words: string; caller: string; files: string[]; count: string };

const FILES_MAX = 6;
const FOLDERS_MAX = 4;
const SQL = /sql[<`]|\.(selectFrom|insertInto|updateTable)\(|create or replace function/;
/** Words that are ignored when searching. */
const FILLERS = new Set(['a', 'as', 'from', 'of', 'the']);

const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const paths = readPaths(page);

function readPaths(text: string): Path[] {
  const [, section = ''] = text.split('\n## Ten paths');
  return [
    ...(section.split('\n## ')[0] ?? '').matchAll(/^\| (?!Path|-)(.+) \| (.+) \| (.+) \| (.+) \|$/gm),
  ].map(([, words = '', caller = '', files = '', count = '']) => ({
    words,
    caller: codes(caller)[0] ?? '',
    files: codes(files).map(inTree),
    count,
  }));
}

/** Returns the texts in backticks. */
function codes(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
}

/** Adds `server/src/modules/`, which the table omits for files of the server's modules. */
function inTree(file: string): string {
  return /^(contract|server)\//.test(file) ? file : `server/src/modules/${file}`;
}

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

function importsOf(file: string): string[] {
  return readSource(file, read(file)).imports.map(({ from }) =>
    from.startsWith('@bakehouse/contract/')
      ? `contract/src/${from.slice('@bakehouse/contract/'.length)}.ts`
      : path.posix.join(path.posix.dirname(file), from),
  );
}

/** True if one file imports the other, or calls a function that is created in the other (an SQL file). */
function isConnected(file: string, earlier: string): boolean {
  if (file.endsWith('.sql')) {
    const created = [...read(file).matchAll(/create or replace function (\w+)/g)];
    return created.some(([, name = '']) => read(earlier).includes(name));
  }
  return importsOf(file).includes(earlier) || importsOf(earlier).includes(file);
}

/** Paths of all files in the working tree, each with a leading slash. */
const tree = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((file) => file !== '' && existsSync(path.join(root, file)))
  .map((file) => `/${file}`);

/**
 * True if the tree has the file, or the folder if the name ends with a slash. The first folders of the path
 * may be omitted.
 */
function isThere(name: string): boolean {
  return tree.some((file) => (name.endsWith('/') ? file.includes(`/${name}`) : file.endsWith(`/${name}`)));
}

it('names no missing file or folder', () => {
  const named = codes(page).filter((code) => /^[\w./-]+(\.(tsx?|sql|py|md)|\w\/)$/.test(code));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

it.each(tree.filter((file) => /^\/(docs\/.+|CONTRIBUTING|README)\.md$/.test(file)))(
  '%s names no missing source file',
  (document) => {
    const named = codes(read(document)).filter((code) => /^[\w./-]+\.(tsx?|sql|py)$/.test(code));
    expect(named.filter((name) => !isThere(name))).toEqual([]);
  },
);

it('lists the ten paths', () => {
  expect(paths.map(({ words }) => words)).toEqual([
    'transfer credits',
    'terminate FLUX',
    'edit a picture',
    'budget of a key',
    'preview a dataset',
    'clone from the hub',
    'estimate a fine-tune',
    'IPFS pin',
    'mark notifications as read',
    'Paris generation',
  ]);
});

describe.each(paths)('$words', ({ words, caller, files, count }) => {
  it('leads from the route to SQL in at most six files of four folders', () => {
    const folders = new Set(files.map((file) => path.posix.dirname(file)));
    expect(files.length).toBeLessThanOrEqual(FILES_MAX);
    expect(folders.size).toBeLessThanOrEqual(FOLDERS_MAX);
    expect(count).toBe(`${files.length} in ${folders.size}`);
    expect(files[0]).toMatch(/^contract\/src\//);
    expect(files[1]).toMatch(/\/routes\.ts$/);
    expect(files.some((file) => SQL.test(read(file)))).toBe(true);
  });

  it('starts at a file that contains all words of the row', () => {
    const text = read(files[0] ?? '').toLowerCase();
    const searched = words.split(' ').filter((word) => !FILLERS.has(word));
    expect(searched.filter((word) => !text.includes(word.toLowerCase()))).toEqual([]);
  });

  it('names an existing file of the web app', () => {
    expect(existsSync(path.join(root, 'web/src/modules', caller))).toBe(true);
  });

  it.each(files.slice(1).map((file, at) => [file, files.slice(0, at + 1)] as const))(
    '%s is connected to a file before it',
    (file, before) => {
      expect(before.filter((earlier) => isConnected(file, earlier))).not.toEqual([]);
    },
  );
});
