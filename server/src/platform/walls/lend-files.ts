import { randomBytes } from 'node:crypto';
import { chmod, chown, copyFile, link, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Wall } from './wall.ts';
import { readerUser } from './workload-users.ts';

/** No program reads that long: who has lent it has died. */
const LEFT_BEHIND_MS = 60 * 60 * 1000;
const READ_ONLY = 0o444;

/** A file, and its name in the folder where it is lent. */
type Lent = { localPath: string; as: string };

/**
 * Makes files readable for a program behind the wall, as long as `work` takes: in a folder that only
 * the program's user may enter. They lie there without a copy where the disk is the same; nobody must
 * write to them.
 */
export async function lendFiles<T>(
  wall: Wall,
  files: Lent[],
  work: (lent: { folder: string; user: number }) => Promise<T>,
): Promise<T> {
  const folder = path.join(wall.lendingDir, randomBytes(16).toString('hex'));
  const user = readerUser();
  try {
    await mkdir(wall.lendingDir, { recursive: true, mode: 0o711 });
    await mkdir(folder, { mode: 0o700 });
    if (wall.kind === 'user') await chown(folder, user, user);
    for (const { localPath, as } of files) {
      const target = path.join(folder, as);
      await mkdir(path.dirname(target), { recursive: true, mode: 0o755 });
      await link(localPath, target).catch(() => copyFile(localPath, target));
      // Who may reach a file says the folder that it lies in.
      if (wall.kind === 'user') await chmod(target, READ_ONLY);
    }
    return await work({ folder, user });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes what killed servers have left lent. */
export async function takeBackFiles({ lendingDir }: Pick<Wall, 'lendingDir'>): Promise<void> {
  for (const name of await readdir(lendingDir).catch(() => [])) {
    const folder = path.join(lendingDir, name);
    const found = await stat(folder).catch(() => null);
    if (found && Date.now() - found.mtimeMs > LEFT_BEHIND_MS)
      await rm(folder, { recursive: true, force: true });
  }
}
