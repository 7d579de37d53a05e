import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Sandbox } from '../../../platform/sandbox/sandbox.ts';
import { weightsExtension } from './find-fault.ts';

const CPU_SECONDS = 30;
const HEAP_MB = 512;
const PROGRAM = new URL('./find-fault-program.ts', import.meta.url);

/**
 * Checks weights before anything loads them: safetensors and GGUF must be complete, and pickles are refused.
 * Other files pass. Runs in a separate process, because a crafted file can make the check slow. Throws
 * AppError('invalid_request') with a sentence that names the file.
 */
export async function checkWeights(
  sandbox: Sandbox,
  file: { localPath: string; name: string; userId: string },
  cpuSeconds = CPU_SECONDS,
): Promise<void> {
  const extension = weightsExtension(file.name);
  if (!extension) return;
  const fault = await runConfined(
    sandbox,
    { program: PROGRAM, localPath: file.localPath, input: { extension } },
    { kind: 'check', cpuSeconds, heapMb: HEAP_MB, userId: file.userId },
  )
    .then((answer) => z.string().nullable().parse(answer))
    .catch((error: unknown) => {
      if (error instanceof OutOfLimits) return 'is not accepted: it takes too long to check';
      throw error;
    });
  if (fault === null) return;
  throw new AppError('invalid_request', { publicMessage: `${file.name} ${fault}.`, param: 'data_file' });
}
