import { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { AppError } from '../errors.ts';
import { DamagedBlob } from './blob-store.ts';
import { noteCheck, readBlobState } from './queries.ts';

/**
 * A stream of the bytes of a file, or of a range of them. Damage that shows while they are read is
 * logged and noted, and breaks the stream off before its end; from then on it throws at once:
 * AppError('conflict') with a sentence that names the file.
 */
export async function readBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string; range?: { start: number; end: number } | undefined },
): Promise<Readable> {
  const { sha256, path, range } = file;
  const { isDamaged, version } = await readBlobState(services.db, sha256);
  if (isDamaged) throw damaged(path);
  const toError = async (error: unknown) => {
    if (!(error instanceof DamagedBlob)) return error;
    services.log.error({ err: error, sha256, path }, 'stored bytes are damaged');
    await noteCheck(services.db, { sha256, version }, { isGood: false, at: services.clock.now() });
    return damaged(path, error);
  };
  const bytes = await services.blobs.read(sha256, range).catch(async (error: unknown) => {
    throw await toError(error);
  });
  async function* named(): AsyncGenerator<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      throw await toError(error);
    }
  }
  return Readable.from(named(), { objectMode: false });
}

function damaged(path: string, cause?: unknown): AppError {
  return new AppError('conflict', {
    publicMessage:
      `The stored bytes of ${path} are damaged. Upload the file again, ` +
      'or ask the operator of this server to restore it from a backup.',
    cause,
  });
}
