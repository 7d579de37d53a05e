import { listModelFiles } from './list-model-files.ts';

/** True if the files are a complete model in safetensors rather than an adapter. */
export function isWholeModel(files: { path: string }[]): boolean {
  const isAdapter = files.some(({ path }) => path === 'adapter_config.json');
  return !isAdapter && listModelFiles(files).some(({ path }) => path.endsWith('.safetensors'));
}
