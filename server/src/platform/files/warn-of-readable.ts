import { stat } from 'node:fs/promises';
import type { Logger } from 'pino';

/** Logs a warning for each secret file that all users of the machine, including workloads, can read. */
export async function warnOfReadable(files: string[], log: Logger): Promise<void> {
  for (const file of files) {
    const found = await stat(file).catch(() => null);
    if (found && (found.mode & 0o004) !== 0)
      log.warn(`${file} is readable by every user of this machine, including workloads: chmod 600 it`);
  }
}
