import { DamagedFile, withFile } from './byte-source.ts';
import { checkGguf } from './gguf.ts';
import { refusePickles, UnsafeFile } from './pickle.ts';
import { checkSafetensors } from './safetensors.ts';

const checks = {
  safetensors: checkSafetensors,
  gguf: checkGguf,
  bin: refusePickles,
  pt: refusePickles,
  pth: refusePickles,
  ckpt: refusePickles,
  pkl: refusePickles,
  pickle: refusePickles,
};

export type WeightsExtension = keyof typeof checks;

/** Returns the extension if the file's content must be checked; null otherwise. */
export function weightsExtension(name: string): WeightsExtension | null {
  const extension = name.split('.').at(-1)?.toLowerCase() ?? '';
  return isWeights(extension) ? extension : null;
}

/** Returns the fault of a weights file, phrased to follow its name; null for a valid file. */
export function findFault(localPath: string, extension: WeightsExtension): string | null {
  try {
    withFile(localPath, checks[extension]);
    return null;
  } catch (error) {
    if (error instanceof DamagedFile) return `is damaged: ${error.message}`;
    if (error instanceof UnsafeFile) return `is not accepted: ${error.message}`;
    throw error;
  }
}

function isWeights(extension: string): extension is WeightsExtension {
  return Object.hasOwn(checks, extension);
}
