import { ensureLayer } from '../../server/src/engine/host/environment/ensure-layer.ts';
import { environmentPython, hasLayer } from '../../server/src/engine/host/environment/environment.ts';
import type { Layer } from '../../server/src/engine/host/environment/layers.ts';
import {
  ensureStarterModel,
  starterModelDir,
} from '../../server/src/engine/host/preparation/starter-model.ts';
import { AppError } from '../../server/src/platform/errors.ts';
import { readSettings } from '../client/settings.ts';
import { PlainError } from '../plain-error.ts';

/** Installs a layer of the runtime's Python environment if it is missing. Returns the path of its Python. */
export async function preparePython(layer: Layer): Promise<string> {
  const config = readSettings();
  if (!(await hasLayer(config, layer))) {
    console.error('Preparing the Python environment ...');
    let printed = '';
    try {
      await ensureLayer(config, layer, (detail) => {
        if (detail !== printed) console.error(`  ${detail}`);
        printed = detail;
      });
    } catch (error) {
      throw error instanceof AppError ? new PlainError(error.publicMessage) : error;
    }
  }
  return environmentPython(config);
}

/** Creates the starter model in both formats if missing. Returns its folder. Needs the layer 'training'. */
export async function prepareStarterModel(): Promise<string> {
  const config = readSettings();
  for (const format of ['gguf', 'safetensors'] as const)
    await ensureStarterModel(config, format, () => undefined);
  return starterModelDir(config);
}
