import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const program = path.join(import.meta.dirname, 'bakehouse.ts');

function bakehouse(...words: string[]) {
  return bakehouseWith({}, ...words);
}

function bakehouseWith(settings: Record<string, string>, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    env: { ...process.env, ...settings },
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

it.each([
  ['blobs', 'verify'],
  ['operator', 'a@example.com'],
])('%s %s finds no database in a missing folder, and does not create it', (...words) => {
  const dir = path.join(import.meta.dirname, 'no-such-folder');
  expect(bakehouse(...words, '--data-dir', dir)).toMatchObject({
    status: 1,
    stderr: `bakehouse: There is no database in ${dir} yet. Start './bakehouse up' to create it, or choose another folder with --data-dir.\n`,
  });
  expect(existsSync(dir)).toBe(false);
});

it('reports an invalid setting, for every command that reads it', () => {
  for (const words of [
    ['ledger', 'verify'],
    ['blobs', 'verify'],
    ['operator', 'a@example.com'],
  ]) {
    expect(bakehouseWith({ BAKEHOUSE_IDLE_MINUTES: 'x' }, ...words)).toMatchObject({
      status: 1,
      stderr: "bakehouse: Invalid settings:\n  BAKEHOUSE_IDLE_MINUTES: must be a number, not 'x'\n",
    });
  }
});

describe('fails with one sentence, before anything is installed or started, for', () => {
  it('an invalid port', () => {
    for (const port of ['abc', '65536', '']) {
      expect(bakehouse('up', '--port', port)).toEqual({
        status: 1,
        stdout: '',
        stderr: `bakehouse: --port takes a number from 0 to 65535, not '${port}'.\n`,
      });
    }
  });

  it('a data folder that is a file, or inside one', () => {
    for (const dir of [program, path.join(program, 'data')]) {
      expect(bakehouse('up', '--data-dir', dir)).toEqual({
        status: 1,
        stdout: '',
        stderr: `bakehouse: The data folder ${dir} cannot be created or written (ENOTDIR): choose another folder with --data-dir\n`,
      });
    }
  });

  it('the same two, set in the environment', () => {
    expect(bakehouseWith({ BAKEHOUSE_PORT: '80a' }, 'up').stderr).toBe(
      "bakehouse: BAKEHOUSE_PORT takes a number from 0 to 65535, not '80a'.\n",
    );
    expect(bakehouseWith({ BAKEHOUSE_DATA_DIR: program }, 'up').stderr).toContain(
      `The data folder ${program} cannot be created or written (ENOTDIR)`,
    );
  });

  it.runIf(process.platform === 'linux')('a data folder in a place that is not writable', () => {
    const { status, stderr } = bakehouse('up', '--data-dir', '/proc/nope/data');
    expect(status).toBe(1);
    expect(stderr).toContain('The data folder /proc/nope/data cannot be created or written');
  });

  it('arguments that the command does not accept', () => {
    const { status, stderr } = bakehouse('up', 'now');
    expect(status).toBe(1);
    expect(stderr).toContain("'up' takes options only, not 'now'");
  });
});

it('rejects a backup if the database is missing or is an external PostgreSQL', () => {
  const dir = path.join(import.meta.dirname, 'no-such-folder');
  expect(bakehouse('backup', '--data-dir', dir).stderr).toBe(
    `bakehouse: There is no database in ${dir}; --data-dir names another folder.\n`,
  );
  for (const words of [['backup'], ['restore', 'some.tar']]) {
    expect(bakehouseWith({ DATABASE_URL: 'postgresql://elsewhere' }, ...words)).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'bakehouse: DATABASE_URL names a PostgreSQL of your own: back it up with its tools, as docs/operations.md says.\n',
    });
  }
  expect(bakehouse('restore').stderr).toBe("bakehouse: Usage: './bakehouse restore FILE'.\n");
  expect(bakehouse('restore', 'no-such.tar', '--data-dir', dir).stderr).toBe(
    `bakehouse: There is no file ${path.resolve('no-such.tar')}\n`,
  );
});
