import { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { watchForDamage } from './watch-for-damage.ts';

/**
 * A stream of the bytes of a file, or of a range of them. Damage that shows while they are read is
 * logged and noted, and breaks the stream off before its end; from then on it throws at once:
 * AppError('conflict') with a sentence that names the file.
 */
export async function readBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string; range?: { start: number; end: number } | undefined },
): Promise<Readable> {
  const toError = await watchForDamage(services, file);
  const bytes = await services.blobs.read(file.sha256, file.range).catch(async (error: unknown) => {
    throw await toError(error);
  });
  async function* named(): AsyncGenerator<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      throw await toError(error);
    }
  }
  const stream = Readable.from(named(), { objectMode: false });
  // A generator that was never begun runs no `finally` when it is ended.
  return stream.once('close', () => bytes.destroy());
}
