import { buffer } from 'node:stream/consumers';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { findGguf } from '../weights/find-gguf.ts';
import { readGgufTask } from '../weights/gguf.ts';
import { readModelJson } from '../weights/read-model-json.ts';

type NeededServices = Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>;

/** Says that a model is in the layout of sentence-transformers. */
export const MODULES = 'modules.json';

/** What a configuration calls networks that read a text and write none. */
const ENCODERS = /^(Bert|Roberta|XLMRoberta|Camembert|MPNet|DistilBert|NomicBert|ModernBert)Model$/;
/** What a GGUF says of its model comes before its vocabulary, which is long. */
const HEAD_BYTES = 64 * 1024;

/** Whether a model turns texts into vectors, as its files say: its modules, its configuration, or its GGUF where it has no other. */
export async function isEmbeddingModel(
  services: NeededServices,
  model: Pick<AssetRevision, 'asset' | 'files'>,
): Promise<boolean> {
  const { asset, files } = model;
  if (asset.starterTask !== null) return asset.starterTask === 'embedding';
  if (files.some(({ path }) => path === MODULES)) return true;
  const config = await readModelJson(services, files, 'config.json');
  const architectures = Array.isArray(config?.architectures) ? config.architectures : [];
  if (architectures.some((one) => typeof one === 'string' && ENCODERS.test(one))) return true;
  const [gguf] = findGguf(model).files;
  if (config || !gguf) return false;
  const end = Math.min(HEAD_BYTES, gguf.sizeBytes) - 1;
  const head = await buffer(await readBlob(services, { ...gguf, range: { start: 0, end } }));
  return readGgufTask(head) === 'embedding';
}
