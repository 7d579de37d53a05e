import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { readGgufHead } from '../weights/read-gguf-head.ts';
import { readModelJson } from '../weights/read-model-json.ts';
import { readConfigContext } from './config-context.ts';
import type { ModelContext } from './context-memory.ts';
import { readGgufContext } from './gguf-context.ts';

/** Returns the model's context from the files that an engine loads: its GGUF, else its config.json. */
export async function readModelContext(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: AssetRevision['files'],
): Promise<ModelContext> {
  const gguf = files.find(({ path }) => path.endsWith('.gguf'));
  if (gguf) return readGgufContext((await readGgufHead(services, gguf)).numbers);
  return readConfigContext(await readModelJson(services, files, 'config.json'));
}
