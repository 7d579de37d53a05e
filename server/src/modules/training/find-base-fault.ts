import type { AssetRevision } from '../assets/read-revision.ts';
import { trainableFiles } from './fine-tune-spec.ts';

/** Files of which a tokenizer needs one, by the names that Transformers gives them. */
const TOKENIZERS = ['tokenizer.json', 'tokenizer.model', 'vocab.json', 'vocab.txt', 'spiece.model'];

/** Why a model cannot be fine-tuned, by the names of its files: a sentence without its full stop, or null. Pure. */
export function findBaseFault(base: Pick<AssetRevision, 'asset' | 'files'>): string | null {
  const { title, datasetType } = base.asset;
  if (datasetType !== 'MODEL') return `${title} is a dataset: choose a model as base`;
  if (base.files.some(({ path }) => path === 'adapter_config.json')) {
    return `${title} is itself a fine-tune: choose the model that it was made from as base`;
  }
  const names = trainableFiles(base).map(({ path }) => path);
  if (!names.some((name) => name.endsWith('.safetensors'))) {
    return `${title} has no safetensors weights to train on`;
  }
  if (!names.includes('config.json'))
    return `${title} has no config.json, which says how its weights are put together`;
  if (!names.some((name) => TOKENIZERS.includes(name))) return `${title} has no tokenizer.json`;
  return null;
}
