import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../root.ts';
import { readSource } from './read-source.ts';

/** A path through the code as described in docs/architecture.md: its files in order. */
type Way = { title: string; files: string[] };

const FOLDERS_MAX = 4;
const SQL = /sql[<`]|\.(selectFrom|insertInto|updateTable)\(/;

const ways = readWays(readFileSync(path.join(root, 'docs/architecture.md'), 'utf8'));

function readWays(text: string): Way[] {
  const [, section = ''] = text.split('\n## Six ways');
  return (section.split('\n## ')[0] ?? '')
    .split('\n### ')
    .slice(1)
    .map((part) => ({
      title: part.split('\n')[0] ?? '',
      files: [...part.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file),
    }));
}

/** Returns the module of a file, or the contract. */
function roomOf(file: string): string {
  return /^(?:web|server)\/src\/modules\/[^/]+|^contract\/src/.exec(file)?.[0] ?? file;
}

function importsOf(file: string): string[] {
  return readSource(file, readFileSync(path.join(root, file), 'utf8')).imports.map(({ from }) =>
    from.startsWith('@bakehouse/contract/')
      ? `contract/src/${from.slice('@bakehouse/contract/'.length)}.ts`
      : path.posix.join(path.posix.dirname(file), from),
  );
}

it('six paths are described', () => {
  expect(ways.map(({ title }) => title)).toEqual([
    'Send credits',
    'Edit a picture',
    'Terminate a FLUX deployment',
    'Estimate a fine-tune',
    'Chat with an adapter',
    'Preview of a parquet',
  ]);
});

describe.each(ways)('$title', ({ files }) => {
  it('leads from the web app through the contract to SQL, in existing files', () => {
    expect(files.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
    expect(files[0]).toMatch(/^web\//);
    const rooms = files.map((file) => file.split('/')[0]);
    expect(rooms).toEqual([...rooms].sort((a, b) => order(a) - order(b)));
    expect(files.some((file) => SQL.test(readFileSync(path.join(root, file), 'utf8')))).toBe(true);
  });

  it('stays in at most four folders', () => {
    expect(new Set(files.map(roomOf)).size).toBeLessThanOrEqual(FOLDERS_MAX);
  });

  it.each(files.slice(1).map((file, at) => [file, files.slice(0, at + 1)] as const))(
    '%s is connected to an earlier file',
    (file, before) => {
      const own = importsOf(file);
      expect(
        before.filter((earlier) => own.includes(earlier) || importsOf(earlier).includes(file)),
      ).not.toEqual([]);
    },
  );
});

function order(part: string | undefined): number {
  return ['web', 'contract', 'server'].indexOf(part ?? '');
}
