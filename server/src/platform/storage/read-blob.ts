import { createHash } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { type AppError, conflict, invalidRequest } from '../errors.ts';
import { DamagedBlob } from './blob-store.ts';
import { readBlobState, recordBlobCheck } from './queries.ts';

/**
 * Returns a stream of a file's bytes, or of a range of them. Throws AppError('conflict') with a sentence that
 * names the file if the bytes are known to be damaged. If damage is found while reading, it is logged and
 * recorded, and the stream fails before its end.
 */
export async function readBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: { sha256: string; path: string; range?: { start: number; end: number } | undefined },
): Promise<Readable> {
  const toError = await guardDamagedReads(services, file);
  const bytes = await services.blobs.read(file.sha256, file.range).catch(async (error: unknown) => {
    throw await toError(error);
  });
  const stream = new PassThrough();
  const breakOff = async (error: Error) => {
    stream.destroy(await toError(error).catch((failure: Error) => failure));
  };
  bytes.once('error', (error) => void breakOff(error));
  // Without a listener, an error before the caller reads would end the process. The caller still gets the
  // error.
  stream.on('error', () => undefined);
  // Closes the storage's stream if the client disconnects before the storage responds.
  stream.once('close', () => bytes.destroy());
  return bytes.pipe(stream);
}

/** Yields the bytes, but yields the last chunk only if all bytes together match this hash. */
export async function* verified(bytes: AsyncIterable<Buffer>, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let last: Buffer | null = null;
  for await (const chunk of bytes) {
    hash.update(chunk);
    if (last) yield last;
    last = chunk;
  }
  if (hash.digest('hex') !== sha256) throw new DamagedBlob(sha256, 'changed');
  if (last) yield last;
}

type Parts = Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>;

type StoredFile = { sha256: string; path: string };

/** Provides a file as a local path while `work` runs. Throws AppError 'conflict' for damaged bytes. */
export async function withBlobFile<T>(
  services: Parts,
  file: StoredFile,
  work: (localPath: string) => Promise<T>,
): Promise<T> {
  const toError = await guardDamagedReads(services, file);
  return services.blobs.withLocalFile(file.sha256, work).catch(async (error: unknown) => {
    throw await toError(error);
  });
}

/** `withBlobFile` for several files: `work` gets a path for each, in the same order. */
export async function withBlobFiles<T>(
  services: Parts,
  files: StoredFile[],
  work: (localPaths: string[]) => Promise<T>,
): Promise<T> {
  const [first, ...others] = files;
  if (first === undefined) return work([]);
  return withBlobFile(services, first, (localPath) =>
    withBlobFiles(services, others, (localPaths) => work([localPath, ...localPaths])),
  );
}

/**
 * Must be called before a file is read. Throws AppError('conflict') with a sentence that names the file if
 * its bytes are known to be damaged. Otherwise returns a function to convert read errors: it logs and records
 * damage, and returns the same AppError for it. It returns other errors unchanged.
 */
export async function guardDamagedReads(
  services: Pick<Services, 'clock' | 'db' | 'log'>,
  { sha256, path }: { sha256: string; path: string },
): Promise<<E>(error: E) => Promise<E | AppError>> {
  const { isDamaged, version } = await readBlobState(services.db, sha256);
  if (isDamaged) throw damaged(path);
  return async (error) => {
    if (!(error instanceof DamagedBlob)) return error;
    services.log.error({ err: error, sha256, file: path }, 'stored bytes are damaged');
    await recordBlobCheck(services.db, { sha256, version }, { isGood: false, at: services.clock.now() });
    return damaged(path, error);
  };
}

function damaged(path: string, cause?: unknown): AppError {
  return conflict(
    `The stored bytes of ${path} are damaged. Upload the file again, ` +
      'or ask the operator of this server to restore it from a backup.',
    { cause },
  );
}

/** Returns the error for a part with more or fewer bytes than announced. */
export function wrongSize(sizeBytes: number, came: string): AppError {
  return invalidRequest(`This part must have ${sizeBytes} bytes, but ${came} were received`);
}
