import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** The folder that a setting names; `~/` is the home folder, as in a shell. */
export function toFolder(text: string): string {
  return path.resolve(text.replace(/^~(?=\/|$)/, homedir()));
}

/**
 * Makes the data folder and its parents where they are missing. Throws a sentence for people when
 * that is not possible or the folder cannot be written. Imports only Node's own modules: the
 * command line asks before the dependencies are there.
 */
export function makeDataDir(dir: string): void {
  try {
    makeWithParents(path.resolve(dir));
    // The slash at the end makes a file an error.
    accessSync(`${dir}/`, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `The data folder ${dir} cannot be made or written (${code}): choose another one with --data-dir`,
      { cause: error },
    );
  }
}

/** Not `recursive`: in a folder that takes no entries, such as /proc, Node tries that for ever. */
function makeWithParents(dir: string): void {
  if (existsSync(dir)) return;
  makeWithParents(path.dirname(dir));
  try {
    mkdirSync(dir);
  } catch (error) {
    // Several processes of one server may start at once.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
