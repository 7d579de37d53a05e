import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import * as z from 'zod';
import { AppError } from '../../../platform/errors.ts';
import { type WeightsExtension, weightsExtension } from './find-fault.ts';

const LIMIT_MS = 30_000;
const HEAP_MB = 512;

/**
 * Looks into weights before anything loads them: safetensors and GGUF must be whole, and whatever
 * could be a pickle must import only what builds data. Other files pass. A thread of its own looks,
 * because a file can be made so that this takes long. Throws AppError('invalid_request') with a
 * sentence that names the file.
 */
export async function checkWeights(localPath: string, name: string, limitMs = LIMIT_MS): Promise<void> {
  const extension = weightsExtension(name);
  if (!extension) return;
  const fault = await findFaultInThread({ localPath, extension }, limitMs);
  if (fault === null) return;
  throw new AppError('invalid_request', { publicMessage: `${name} ${fault}.`, param: 'data_file' });
}

async function findFaultInThread(
  workerData: { localPath: string; extension: WeightsExtension },
  limitMs: number,
): Promise<string | null> {
  const worker = new Worker(new URL('./weights-worker.ts', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  try {
    const [fault] = await once(worker, 'message', { signal: AbortSignal.timeout(limitMs) });
    return z.string().nullable().parse(fault);
  } catch (error) {
    if (isOutOfLimits(error)) return 'is not accepted: it takes too long to check';
    throw error;
  } finally {
    await worker.terminate();
  }
}

function isOutOfLimits(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === 'AbortError' || ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'))
  );
}
