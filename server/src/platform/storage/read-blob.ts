import { PassThrough, type Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { watchForDamage } from './watch-for-damage.ts';

/**
 * Returns a stream of a file's bytes, or of a range. Damage found while reading is logged and recorded, and
 * aborts the stream before its end; afterwards this throws immediately: AppError('conflict') with a sentence
 * that names the file.
 */
export async function readBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string; range?: { start: number; end: number } | undefined },
): Promise<Readable> {
  const toError = await watchForDamage(services, file);
  const bytes = await services.blobs.read(file.sha256, file.range).catch(async (error: unknown) => {
    throw await toError(error);
  });
  const stream = new PassThrough();
  const breakOff = async (error: Error) => {
    stream.destroy(await toError(error).catch((failure: Error) => failure));
  };
  bytes.once('error', (error) => void breakOff(error));
  // An error before the caller reads would otherwise end the process; the caller still gets it when it reads.
  stream.on('error', () => undefined);
  // A client that disconnects before the storage responds leaves nothing open.
  stream.once('close', () => bytes.destroy());
  return bytes.pipe(stream);
}
