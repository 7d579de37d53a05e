import type { ExportFormat } from '@bakehouse/contract/exports';
import { findGguf } from '../../models/weights/find-gguf.ts';
import { isWholeModel } from '../../models/weights/is-whole-model.ts';
import type { Exportable } from './read-exportable.ts';

const ADAPTER = 'adapter.gguf';

type Files = { asset: { title: string }; files: { path: string }[] };

/** Returns why a fine-tune cannot be exported in a format, without a full stop; null if it can. */
export function findObstacle(
  { fineTune, base }: { [Part in keyof Pick<Exportable, 'fineTune' | 'base'>]: Files },
  format: ExportFormat,
): string | null {
  const isWhole = isWholeModel(fineTune.files);
  if (format === 'safetensors') {
    return isWhole ? `${fineTune.asset.title} is a whole model already: download its files` : null;
  }
  const { title } = base.asset;
  const gguf = findGguf(base);
  if (gguf.files.length === 0) {
    const lack = `${title} has no GGUF file${isWhole ? '' : ' to merge into'}`;
    return `${lack}, and safetensors are not converted to GGUF here`;
  }
  if (gguf.fault !== null) return gguf.fault;
  if (gguf.files.length > 1) return `The GGUF of ${title} lies in several files, which cannot be merged into`;
  return isWhole || fineTune.files.some(({ path }) => path === ADAPTER)
    ? null
    : `llama.cpp has no place for the adapter of ${fineTune.asset.title}`;
}
