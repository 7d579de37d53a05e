import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  canEnter,
  describeFailure,
  MAJOR_VERSION,
  type Owner,
  ROOT_FALLBACK_DIR,
  renameUnlessThere,
  runAs,
} from './postgres-programs.ts';

export const USER = 'bakehouse';
/** Stored in the cluster's own folder, so that a copy of the folder is complete. */
const PASSWORD_FILE = 'bakehouse.password';

/** Creates a missing cluster; returns its real path. Throws an Error if the folder is unusable. */
export async function prepareCluster(
  wanted: string,
  native: string,
  owner: Owner | null,
  settings: Record<string, string>,
): Promise<string> {
  if (!existsSync(wanted)) await createCluster(wanted, native, owner, settings);
  const dir = await realpath(wanted);
  const version = await readFile(path.join(dir, 'PG_VERSION'), 'utf8').catch(() => null);
  if (version === null)
    throw new Error(
      `${wanted} exists but is not a PostgreSQL database: move it away or choose another data folder`,
    );
  if (version.trim() !== MAJOR_VERSION) {
    throw new Error(
      `${wanted} was created by PostgreSQL ${version.trim()}, but this version needs ${MAJOR_VERSION}: move it away or upgrade it with pg_upgrade`,
    );
  }
  if (owner && !(await canEnter(owner, dir))) {
    throw new Error(
      `PostgreSQL runs as the user '${owner.name}', which cannot access ${dir}: grant it access to every folder of that path, or choose another data folder`,
    );
  }
  return dir;
}

/** Returns the password of the server of the cluster in `dir`. Throws an Error if its file is missing. */
export async function readPassword(dir: string): Promise<string> {
  return readFile(path.join(dir, PASSWORD_FILE), 'utf8').catch((cause: unknown) => {
    throw new Error(`The password of the database cannot be read from ${path.join(dir, PASSWORD_FILE)}`, {
      cause,
    });
  });
}

async function createCluster(
  wanted: string,
  native: string,
  owner: Owner | null,
  settings: Record<string, string>,
): Promise<void> {
  await makeClusterFolder(wanted, owner, async (unfinished) => {
    const password = `${unfinished}.password`;
    try {
      await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
      if (owner) await chown(password, owner.uid, owner.gid);
      // The built-in collation, because the order of strings must not depend on the machine's locales.
      await runAs(owner, path.join(native, 'bin', 'initdb'), [
        `--pgdata=${unfinished}`,
        `--username=${USER}`,
        '--auth-local=scram-sha-256',
        `--pwfile=${password}`,
        '--auth-host=reject',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--data-checksums',
        ...(settings.fsync === 'off' ? ['--no-sync'] : []),
      ]);
      await rename(password, path.join(unfinished, PASSWORD_FILE));
    } finally {
      await rm(password, { force: true });
    }
  }).catch((error: unknown) => {
    throw new Error(`PostgreSQL could not create its folder ${wanted}: ${describeFailure(error)}`, {
      cause: error,
    });
  });
}

/**
 * Creates the folder of a cluster where PostgreSQL's user can access it, and fills it with `fill`. The folder
 * has a temporary name until it is complete, so a killed process leaves no incomplete cluster.
 */
export async function makeClusterFolder(
  wanted: string,
  owner: Owner | null,
  fill: (unfinished: string) => Promise<void>,
): Promise<void> {
  const parent = path.dirname(wanted);
  await mkdir(parent, { recursive: true });
  const suffix = randomBytes(4).toString('hex');
  const reachable = !owner || (await canEnter(owner, parent));
  const place = reachable ? wanted : path.join(ROOT_FALLBACK_DIR, `data-${suffix}`);
  const unfinished = `${place}.${suffix}`;
  await mkdir(unfinished, { recursive: true });
  await chmod(unfinished, 0o700);
  if (owner) await chown(unfinished, owner.uid, owner.gid);
  try {
    await fill(unfinished);
    await renameUnlessThere(unfinished, place);
    if (!reachable) await symlink(place, wanted);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}
