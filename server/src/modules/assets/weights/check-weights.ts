import { AppError } from '../../../platform/errors.ts';
import { DamagedFile, withFile } from './byte-source.ts';
import { checkGguf } from './gguf.ts';
import { checkPickles, UnsafeFile } from './pickle.ts';
import { checkSafetensors } from './safetensors.ts';

const checks: Record<string, typeof checkPickles> = {
  safetensors: checkSafetensors,
  gguf: checkGguf,
  bin: checkPickles,
  pt: checkPickles,
  pth: checkPickles,
  ckpt: checkPickles,
  pkl: checkPickles,
  pickle: checkPickles,
};

/**
 * Looks into weights before anything loads them: safetensors and GGUF must be whole, and whatever
 * could be a pickle must import only what builds data. Other files pass. Throws
 * AppError('invalid_request') with a sentence that names the file.
 */
export function checkWeights(localPath: string, name: string): void {
  const check = checks[name.split('.').at(-1)?.toLowerCase() ?? ''];
  if (!check) return;
  try {
    withFile(localPath, check);
  } catch (error) {
    if (error instanceof DamagedFile) throw refusal(`${name} is damaged: ${error.message}.`, error);
    if (error instanceof UnsafeFile) throw refusal(`${name} is not accepted: ${error.message}.`, error);
    throw error;
  }
}

function refusal(publicMessage: string, cause: Error): AppError {
  return new AppError('invalid_request', { publicMessage, param: 'data_file', cause });
}
