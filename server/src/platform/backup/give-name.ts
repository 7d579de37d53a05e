import { link, rename, rm, stat } from 'node:fs/promises';

/** Errors of disks without hard links, such as exFAT, and of network file systems. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/**
 * Moves a finished file to its final name. Throws if the name is taken; a plain rename would replace that
 * file.
 */
export async function giveName(unfinished: string, file: string): Promise<void> {
  try {
    await link(unfinished, file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw nameTaken(file);
    if (!NO_LINKS.includes(code)) throw error;
    await refuseTaken(file);
    await rename(unfinished, file);
    return;
  }
  await rm(unfinished);
}

/** Throws if the file exists. */
export async function refuseTaken(file: string): Promise<void> {
  if (await stat(file).catch(() => null)) throw nameTaken(file);
}

function nameTaken(file: string): Error {
  return new Error(`${file} exists already`);
}
