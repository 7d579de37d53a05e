import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';

/** Logs a warning for each secret file that every user of the machine may read, as workloads are such users. */
export async function warnOfReadable(files: string[], log: Logger): Promise<void> {
  for (const file of files) {
    const found = await stat(file).catch(() => null);
    if (found && (found.mode & 0o004) !== 0)
      log.warn(`Every user of this machine may read ${file}, workloads too: chmod 600 it`);
  }
}
