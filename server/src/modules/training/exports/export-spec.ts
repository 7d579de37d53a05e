import { type ExportFormat, exportFormatLabels } from '@bakehouse/contract/exports';
import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { WorkloadSpec } from '../../../engine/model/workload.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { toModelName } from '../../models/names/model-name.ts';
import { findGguf } from '../../models/weights/find-gguf.ts';
import { isWholeModel } from '../../models/weights/is-whole-model.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import type { Exportable } from './read-exportable.ts';

/** Needed to write a Modelfile. */
const TOKENIZER_FILES = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
];
/** Files of a fine-tune: the adapter and its tokenizer. */
const ADAPTER_FILES = ['adapter_config.json', 'adapter_model.safetensors', ...TOKENIZER_FILES];
/** Files of a base besides its GGUF. */
const BASE_FILES = ['config.json', 'generation_config.json'];

/** Returns the title of an export: 'My Bot' -> 'My Bot (GGUF Q8_0)'. */
export function exportTitle(title: string, format: ExportFormat): string {
  const end = format === 'safetensors' ? ' (merged)' : ` (${exportFormatLabels[format]})`;
  return title.slice(0, NAME_LENGTH_MAX - end.length) + end;
}

type Asked = Exportable & {
  format: ExportFormat;
  repository: string | null;
  license: { license: string | null; license_name: string | null; license_link: string | null };
  prompts: string[];
};

/** Returns the runtime's spec of an export, without the fields that the engine adds. */
export function toExportSpec({ fineTune, base, format, repository, license, prompts }: Asked): WorkloadSpec {
  const gguf = format === 'safetensors' ? [] : findGguf(base).files;
  const isWhole = isWholeModel(fineTune.files);
  const beside = isWhole ? [...BASE_FILES, ...TOKENIZER_FILES] : BASE_FILES;
  const own = format === 'safetensors' ? listModelFiles(base.files) : pick(base.files, beside);
  const told = {
    kind: 'export' as const,
    title: exportTitle(fineTune.asset.title, format),
    fine_tune_title: fineTune.asset.title,
    fine_tune_repository: repository,
    ...license,
    prompts,
    inputs: [
      { name: 'base_model', files: [...own, ...gguf].map(toInput) },
      ...(isWhole ? [] : [{ name: 'adapter', files: pick(fineTune.files, ADAPTER_FILES).map(toInput) }]),
    ],
  };
  if (format === 'safetensors') return { ...told, format };
  const quantization = format === 'gguf_f16' ? 'F16' : 'Q8_0';
  return {
    ...told,
    format: 'gguf',
    quantization,
    base_model_file: gguf[0]?.path ?? '',
    file_name: `${fileName(fineTune.asset.title)}-${quantization}`,
  };
}

/** Converts a title to the start of a file name and of an Ollama model name. */
function fileName(title: string): string {
  const plain = toModelName(title)
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '');
  return plain || 'model';
}

const pick = (files: AssetRevision['files'], names: string[]) =>
  files.filter(({ path }) => names.includes(path));

function toInput({ path, sha256, sizeBytes }: AssetRevision['files'][number]) {
  return { path, sha256, size_bytes: sizeBytes };
}
