import { text } from 'node:stream/consumers';
import * as z from 'zod';
import type { Services } from '../../../../platform/context.ts';
import { conflict } from '../../../../platform/errors.ts';
import { readBlob } from '../../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../../assets/read-revision.ts';
import { MODULES } from '../../../models/embedding/is-embedding-model.ts';
import { readModelJson } from '../../../models/weights/model-files.ts';

const BYTES_MAX = 64 * 1024;
/** Supported by the runtime's encoder (`embed/bert.py`, `embed/modules.py`). */
const FAMILIES = ['bert', 'roberta', 'xlm-roberta', 'camembert'];
const MODULE_TYPES = ['Transformer', 'Pooling', 'Normalize'];

const modules = z.array(z.object({ type: z.string().max(200), path: z.string().max(200) })).max(20);

/**
 * Returns the configuration files of a model's modules. Throws AppError 'conflict' if modules.json is
 * missing, or, on the CPU, if the runtime's encoder does not support the model. The runtime checks everything
 * else when it loads the model.
 */
export async function checkEncoder(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { asset, files }: Pick<AssetRevision, 'asset' | 'files'>,
  { onCpu }: { onCpu: boolean },
): Promise<string[]> {
  const listed = await readModules(services, files);
  if (!listed)
    throw conflict(
      `${asset.title} has no ${MODULES} of sentence-transformers, which defines how a text becomes a vector. ` +
        'Upload it with the folder 1_Pooling, or a GGUF of the model',
    );
  if (onCpu) {
    const config = await readModelJson(services, files, 'config.json');
    const family = String(config?.model_type).slice(0, 40);
    if (!isEncoderFamily(family))
      throw conflict(
        `${asset.title} is of the type ${family}. The CPU can serve safetensors of the types ${FAMILIES.join(', ')}, and a GGUF of any type`,
      );
    const unknown = listed
      .map(({ type }) => type.split('.').at(-1) ?? '')
      .find((type) => !MODULE_TYPES.includes(type));
    if (unknown !== undefined)
      throw conflict(
        `The ${MODULES} of ${asset.title} names ${unknown.slice(0, 40)}, which is not served on the CPU`,
      );
    if (!files.some(({ path }) => path === 'tokenizer.json'))
      throw conflict(`${asset.title} has no tokenizer.json, which the CPU needs to read text`);
  }
  return listed.filter(({ path }) => path !== '').map(({ path }) => `${path}/config.json`);
}

/** True if the runtime's encoder supports this `model_type` of a config.json. */
export function isEncoderFamily(family: unknown): boolean {
  return FAMILIES.some((known) => known === family);
}

async function readModules(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: AssetRevision['files'],
): Promise<z.infer<typeof modules> | null> {
  const file = files.find(({ path }) => path === MODULES);
  if (!file || file.sizeBytes > BYTES_MAX) return null;
  try {
    return modules.safeParse(JSON.parse(await text(await readBlob(services, file)))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
