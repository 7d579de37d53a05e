import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onFileEnd } from './on-file-end.ts';

/** In-memory folder of Linux. */
const MEMORY = '/dev/shm';
/** Enough for all databases of the server's tests. */
const MEMORY_FREE_MIN = 4 * 1024 ** 3;

/**
 * Returns a folder for temporary databases: in memory if there is enough, because a new database has 900
 * files, which take 0.3 s of CPU time on some disks.
 */
export async function databaseFolder(): Promise<string> {
  const found = await statfs(MEMORY).catch(() => null);
  return found && found.bavail * found.bsize >= MEMORY_FREE_MIN ? MEMORY : tmpdir();
}

/**
 * Returns an empty folder that is deleted when the test file ends. Other users may enter it, because
 * PostgreSQL runs as another user if this process is root.
 */
export async function temporaryFolder(parent = tmpdir()): Promise<string> {
  const dir = await mkdtemp(path.join(parent, 'bakehouse-folder-'));
  await chmod(dir, 0o755);
  onFileEnd(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
