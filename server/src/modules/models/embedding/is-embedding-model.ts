import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { findGguf, readGgufHead, readModelJson } from '../weights/model-files.ts';

type NeededServices = Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>;

/** Models with this file use the layout of sentence-transformers. */
export const MODULES = 'modules.json';

/** Architectures that encode text and cannot generate it. */
const ENCODERS = /^(Bert|Roberta|XLMRoberta|Camembert|MPNet|DistilBert|NomicBert|ModernBert)Model$/;

/** True if the model produces embeddings, judged by modules.json, else by config.json, else by its GGUF. */
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
  return (await readGgufHead(services, gguf)).task === 'embedding';
}
