import { link, rename, rm, stat } from 'node:fs/promises';

/** What disks answer that have no hard links, such as exFAT, and file systems over a network. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Gives a file that was written beside its name that name. Throws where the name is taken: a mere rename would replace what has it. */
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

/** Throws where there is such a file. */
export async function refuseTaken(file: string): Promise<void> {
  if (await stat(file).catch(() => null)) throw nameTaken(file);
}

function nameTaken(file: string): Error {
  return new Error(`${file} exists already`);
}
