import { stat } from 'node:fs/promises';

/** Whether every user of the machine may read a file, as far as the file itself says. */
export async function othersMayRead(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && (found.mode & 0o004) !== 0;
}
