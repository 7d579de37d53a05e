import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import {
  discardEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../server/src/platform/postgres/embedded-postgres.ts';
import { backup, restore } from './backup.ts';
import type { Arguments } from './command.ts';

const startedIn = await mkdtemp(path.join(tmpdir(), 'bakehouse-backup-'));
const dataDir = path.join(startedIn, 'data');
const cluster = path.join(dataDir, 'postgres');
afterAll(async () => {
  await discardEmbeddedPostgres(cluster);
  await rm(startedIn, { recursive: true, force: true });
});

test('backup and restore name damaged files, and exit with 1', async () => {
  // If this process is root, PostgreSQL runs as another user, which must be able to enter the folder.
  await chmod(startedIn, 0o755);
  const name = `blobs/ab/${'0'.repeat(62)}`;
  await mkdir(path.dirname(path.join(dataDir, name)), { recursive: true });
  await writeFile(path.join(dataDir, name), 'not of this hash');
  await startEmbeddedPostgres({ dir: cluster, settings: { fsync: 'off' } });
  const logged = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.stubEnv('DATABASE_URL', undefined);
  const call = { startedIn, words: ['copy.tar'] } as Arguments;

  vi.stubEnv('BAKEHOUSE_DATA_DIR', dataDir);
  expect(await backup(call)).toBe(1);
  expect(logged).toHaveBeenCalledWith(`FAIL ${name} is damaged`);
  logged.mockClear();
  vi.stubEnv('BAKEHOUSE_DATA_DIR', path.join(startedIn, 'restored'));
  expect(await restore(call)).toBe(1);
  expect(logged).toHaveBeenCalledWith(`FAIL ${name} is damaged`);
}, 60_000);
