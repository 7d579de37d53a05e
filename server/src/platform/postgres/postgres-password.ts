import { randomBytes } from 'node:crypto';
import { chown, link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import type { Owner } from './postgres-owner.ts';

/** Stands in the cluster's own folder, so that a copy of the folder is whole. */
const FILE = 'bakehouse.password';

/** The password of the cluster in `dir`, from its file; made where there is none. */
export async function readOrMakePassword(dir: string, owner: Owner | null): Promise<string> {
  const file = path.join(dir, FILE);
  const there = await readFile(file, 'utf8').catch(() => null);
  if (there !== null) return there;
  const unfinished = await writePassword(`${file}.${randomBytes(4).toString('hex')}`, owner);
  try {
    // A link appears whole or not at all: of two that start at once, one makes it.
    await link(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
  return readFile(file, 'utf8');
}

/** Writes a new password to `file`, for initdb to read; answers with the file. */
export async function writePassword(file: string, owner: Owner | null): Promise<string> {
  await writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
  if (owner) await chown(file, owner.uid, owner.gid);
  return file;
}

/** Moves the file that initdb has read to its place in the folder that initdb has made. */
export async function keepPassword(file: string, dir: string): Promise<void> {
  await rename(file, path.join(dir, FILE));
}

/** A cluster of an earlier version let everybody in who could reach its socket: from now on it asks for the password. */
export async function requirePassword(
  client: pg.Client,
  cluster: { dir: string; owner: Owner | null; user: string; password: string },
): Promise<void> {
  const file = path.join(cluster.dir, 'pg_hba.conf');
  const rules = await readFile(file, 'utf8');
  const trusting = /^(local\s.*\s)trust\b/gm;
  if (!trusting.test(rules)) return;
  const quoted = client.escapeLiteral(cluster.password);
  await client.query(`alter role ${client.escapeIdentifier(cluster.user)} password ${quoted}`);
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(unfinished, rules.replace(trusting, '$1scram-sha-256'), { mode: 0o600 });
  if (cluster.owner) await chown(unfinished, cluster.owner.uid, cluster.owner.gid);
  await rename(unfinished, file);
  await client.query('select pg_reload_conf()');
}
