import type { Logger } from 'pino';
import { othersMayRead } from './others-may-read.ts';

/** Names in the log each secret file that every user of the machine may read: workloads are such users. */
export async function warnOfReadable(files: string[], log: Logger): Promise<void> {
  for (const file of files) {
    if (await othersMayRead(file))
      log.warn(`Every user of this machine may read ${file}, workloads too: chmod 600 it`);
  }
}
