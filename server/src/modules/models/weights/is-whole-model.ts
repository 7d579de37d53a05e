import { listModelFiles } from './list-model-files.ts';

/** Whether the files are a model by themselves, in safetensors, and no adapter for another one. Pure. */
export function isWholeModel(files: { path: string }[]): boolean {
  const isAdapter = files.some(({ path }) => path === 'adapter_config.json');
  return !isAdapter && listModelFiles(files).some(({ path }) => path.endsWith('.safetensors'));
}
