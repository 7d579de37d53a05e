import type { AssetRevision } from '../../assets/read-revision.ts';
import { trainableFiles } from '../fine-tune-spec.ts';

/** Why a model cannot be the base of a fine-tune, by the names of its files: a sentence without its full stop, or null. Pure. */
export function findBaseFault(base: Pick<AssetRevision, 'asset' | 'files'>): string | null {
  const { title, datasetType, starterTask } = base.asset;
  if (datasetType !== 'MODEL') return `${title} is a dataset: choose a model as base`;
  if (starterTask === 'image') return `${title} generates pictures: choose a text model as base`;
  if (base.files.some(({ path }) => path === 'adapter_config.json')) {
    return `${title} is itself a fine-tune: choose the model that it was made from as base`;
  }
  if (!trainableFiles(base).some(({ path }) => path.endsWith('.safetensors'))) {
    return `${title} has no safetensors weights to train on`;
  }
  return null;
}
