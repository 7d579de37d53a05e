import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';

/** Two starts at once both build; the first to finish wins. */
export async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
    await rm(from, { recursive: true, force: true });
  }
}
