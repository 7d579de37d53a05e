import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** Returns the folder named in a setting; `~/` is the home folder, as in a shell. */
export function toFolder(text: string): string {
  return path.resolve(text.replace(/^~(?=\/|$)/, homedir()));
}

/**
 * Creates the data folder and its missing parents. Throws a user-facing sentence if it cannot be created or
 * written. Imports only Node's own modules, because the command line calls this before dependencies are
 * installed.
 */
export function makeDataDir(dir: string): void {
  try {
    makeWithParents(path.resolve(dir));
    // The trailing slash makes a file an error.
    accessSync(`${dir}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `The data folder ${dir} cannot be made or written (${code}): choose another one with --data-dir`,
      { cause: error },
    );
  }
}

/** Not `recursive`: in a folder that allows no entries, such as /proc, Node would retry forever. */
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
