import type { RepoType } from '@bakehouse/contract/hub/public';
import { weightsExtension } from '../../models/weights/find-fault.ts';

type Named = { path: string };

/** Formats in which loading executes code are rejected everywhere. */
const isPickle = ({ path }: Named) => {
  const extension = weightsExtension(path);
  return extension !== null && extension !== 'safetensors' && extension !== 'gguf';
};
const isSafe = ({ path }: Named) => /\.(safetensors|gguf)$/i.test(path);

/**
 * Selects the files of a repository to copy; skips pickles if the weights also exist in a safe format.
 * `fault` is set if all weights are pickles.
 */
export function chooseFiles<File extends Named>(
  type: RepoType,
  files: readonly File[],
): { copied: File[]; leftOut: File[]; fault: string | null } {
  const pickles = type === 'model' ? files.filter(isPickle) : [];
  if (pickles.length === 0) return { copied: [...files], leftOut: [], fault: null };
  if (files.some(isSafe)) {
    const left = new Set(pickles);
    return { copied: files.filter((file) => !left.has(file)), leftOut: pickles, fault: null };
  }
  return {
    copied: [],
    leftOut: pickles,
    fault:
      'Its weights are Python pickles alone, which can run code where they are loaded. Choose a repository with ' +
      'safetensors or GGUF',
  };
}
