import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';

const LENGTH_MIN = 32;

/**
 * Returns the text of a file. If the file is missing, creates it with `content` and mode 600. Never changes
 * an existing file, so concurrent processes get the same text.
 */
export async function readOrMakeFile(file: string, content: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(unfinished, `${content}\n`, { mode: 0o600, flag: 'wx' });
    // A link is created atomically and never replaces an existing file.
    await link(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

/** Returns the folder named in a setting; `~/` is the home folder, as in a shell. */
export function toFolder(text: string): string {
  return path.resolve(text.replace(/^~(?=\/|$)/, homedir()));
}

/**
 * Creates the data folder and its missing parents. Throws a user-facing sentence if the folder cannot be
 * created or written. Only imports Node's own modules, because the command line calls this before
 * dependencies are installed.
 */
export function makeDataDir(dir: string): void {
  try {
    makeWithParents(path.resolve(dir));
    // With a trailing slash, a file at this path causes an error.
    accessSync(`${dir}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `The data folder ${dir} cannot be created or written (${code}): choose another folder with --data-dir`,
      { cause: error },
    );
  }
}

/** Not with `recursive`: Node would retry forever in a folder that allows no entries, such as /proc. */
function makeWithParents(dir: string): void {
  if (existsSync(dir)) return;
  makeWithParents(path.dirname(dir));
  try {
    mkdirSync(dir);
  } catch (error) {
    // Several processes of one server may start concurrently.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Returns the secret from `<dataDir>/secret`, created if missing. Throws a sentence if it is unusable. */
export async function readOrMakeSecret(dataDir: string): Promise<string> {
  const file = path.join(dataDir, 'secret');
  const secret = await readOrMakeFile(file, randomBytes(32).toString('base64url'));
  if (secret.length < LENGTH_MIN) {
    throw new Error(
      `${file} does not contain a usable secret: restore it from a backup; a new secret ends all sessions, and the web app can no longer show API keys`,
    );
  }
  return secret;
}

/** Logs a warning for each secret file that all users of the machine, including workloads, can read. */
export async function warnOfReadable(files: string[], log: Logger): Promise<void> {
  for (const file of files) {
    const found = await stat(file).catch(() => null);
    if (found && (found.mode & 0o004) !== 0)
      log.warn(`${file} is readable by every user of this machine, including workloads: chmod 600 it`);
  }
}
