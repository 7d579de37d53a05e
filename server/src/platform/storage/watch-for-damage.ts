import type { Services } from '../context.ts';
import { AppError } from '../errors.ts';
import { DamagedBlob } from './blob-store.ts';
import { noteCheck, readBlobState } from './queries.ts';

/**
 * Call before reading a file: throws AppError('conflict') with a sentence that names the file if its bytes
 * are known to be damaged. Otherwise returns a function for read errors: it logs and records damage, and
 * converts it to that sentence; it returns other errors unchanged.
 */
export async function watchForDamage(
  services: Pick<Services, 'clock' | 'db' | 'log'>,
  { sha256, path }: { sha256: string; path: string },
): Promise<<E>(error: E) => Promise<E | AppError>> {
  const { isDamaged, version } = await readBlobState(services.db, sha256);
  if (isDamaged) throw damaged(path);
  return async (error) => {
    if (!(error instanceof DamagedBlob)) return error;
    services.log.error({ err: error, sha256, file: path }, 'stored bytes are damaged');
    await noteCheck(services.db, { sha256, version }, { isGood: false, at: services.clock.now() });
    return damaged(path, error);
  };
}

function damaged(path: string, cause?: unknown): AppError {
  return new AppError('conflict', {
    publicMessage:
      `The stored bytes of ${path} are damaged. Upload the file again, ` +
      'or ask the operator of this server to restore it from a backup.',
    cause,
  });
}
