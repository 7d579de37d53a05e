import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

/**
 * The text of a file that is made with mode 600 when it is missing, and stays as it is from then
 * on. Two processes that start at once get the same one.
 */
export async function readOrMakeFile(file: string, content: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(unfinished, `${content}\n`, { mode: 0o600, flag: 'wx' });
    // A link appears whole or not at all, and never replaces what is there.
    await link(unfinished, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}
