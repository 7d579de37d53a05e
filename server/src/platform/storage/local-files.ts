import { open, stat } from 'node:fs/promises';
import { AppError } from '../errors.ts';

/** Large buffers make writing cheaper than hashing. */
export const BUFFER_BYTES = 1024 * 1024;

/** Returns null if there is no such file. */
export async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Yields the bytes; distinguishes a disconnected sender from a failed disk. */
export async function* namingCuts(source: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', {
      publicMessage: 'The upload stopped before the file was complete',
      cause: error,
    });
  }
}

/** Makes the rename itself survive a power loss. */
export async function flushFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** Converts the error of a full disk to its sentence; returns every other error unchanged. */
export function toOwnError(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noRoom(error) : error;
}

export function noRoom(cause?: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: 'The server has no disk space left for this file. Its operator can make room.',
    cause,
  });
}
