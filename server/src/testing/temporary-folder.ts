import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onFileEnd } from './on-file-end.ts';

/**
 * Returns an empty folder that is deleted when the test file ends. Other users may enter it, because
 * PostgreSQL runs as another user if this process is root.
 */
export async function temporaryFolder(): Promise<string> {
  const dir = await mkdtemp(path.join(tmpdir(), 'bakehouse-folder-'));
  await chmod(dir, 0o755);
  onFileEnd(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
