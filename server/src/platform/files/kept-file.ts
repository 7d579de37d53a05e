import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * Returns the text of a file, which is created with mode 600 if it is missing and never changed. Concurrent
 * processes get the same file.
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
