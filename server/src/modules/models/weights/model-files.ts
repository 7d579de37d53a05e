import { buffer, text } from 'node:stream/consumers';
import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { type GgufHead, parseGgufHead } from './gguf.ts';
import { listModelFiles } from './list-model-files.ts';
import { findMissingParts, nameMissing } from './missing-parts.ts';

/** A pattern, for JavaScript and SQL, of the paths of vision projectors: prefixed or suffixed `mmproj`. */
export const PROJECTOR_PATTERN = '(^|[/._-])mmproj[^/]*[.]gguf$';

const PROJECTOR = new RegExp(PROJECTOR_PATTERN, 'i');

/** Adapters are no part of the model itself. */
const ADAPTER = /(^|\/)adapter[^/]*$/i;

const NUMBER = /-\d{5}-of-(\d{5})\.gguf$/;

/**
 * Maximum size of a JSON file. The index of a model with hundreds of layers and experts has some megabytes.
 */
const BYTES_MAX = 16 * 1024 ** 2;

const object = z.record(z.string(), z.unknown());

/** The index of sharded weights. It maps each tensor to its file. */
const INDEX = 'model.safetensors.index.json';

const index = z.object({ weight_map: z.record(z.string(), z.string()) });

/** PEFT's task type of a model that scores text. Its architecture in Transformers matches `ARCHITECTURE`. */
const TASK = 'SEQ_CLS';

const ARCHITECTURE = /ForSequenceClassification$/;

/** Enough for the metadata, which a GGUF stores before its long vocabulary. */
const HEAD_BYTES = 64 * 1024;

/**
 * Returns the GGUF files that llama.cpp loads: one file or numbered parts. Empty and without a fault if the
 * model has no GGUF. `fault` is a sentence without a full stop.
 */
export function findGguf<F extends { path: string }>({
  asset: { title },
  files,
}: {
  asset: { title: string };
  files: F[];
}): { files: F[]; fault: string | null } {
  const found = findGgufs(files);
  const paths = found.map(({ path }) => path);
  const models = Map.groupBy(paths, (path) => path.replace(NUMBER, '-of-$1.gguf'));
  if (models.size <= 1) return { files: found, fault: nameMissing(title, findMissingParts(paths)) };
  const names = new Intl.ListFormat('en-GB').format([...models.values()].flatMap(([first = '']) => first));
  return {
    files: found,
    fault: `${title} has several GGUF models, ${names}, of which one can be served: delete the others`,
  };
}

/** Returns the GGUF files of models, without adapters and projectors, by path. */
export function findGgufs<F extends { path: string }>(files: F[]): F[] {
  return files
    .filter(({ path }) => path.endsWith('.gguf') && !ADAPTER.test(path) && !PROJECTOR.test(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Returns the GGUF file with which llama.cpp reads pictures; undefined if there is none. If there are several
 * precisions, returns the one in 16 bits, which llama.cpp's authors recommend.
 */
export function findProjector<F extends { path: string }>(files: F[]): F | undefined {
  const all = files.filter(({ path }) => PROJECTOR.test(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return all.find(({ path }) => /[^b]f16/i.test(path)) ?? all[0];
}

/** Returns true for the file that tells Transformers and vLLM how to prepare a picture for the model. */
export function preparesPictures({ path }: { path: string }): boolean {
  return /^(pre)?processor_config\.json$/i.test(path);
}

/**
 * Returns the weights in Transformers' format. `files` is empty and `fault` null if there are none. `fault`
 * is a sentence without a full stop, e.g. about missing files.
 */
export async function findSafetensors(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { asset, files }: Pick<AssetRevision, 'asset' | 'files'>,
): Promise<{ files: AssetRevision['files']; fault: string | null }> {
  const found = listModelFiles(files).filter(({ path }) => path.endsWith('.safetensors'));
  if (found.length === 0) return { files: [], fault: null };
  const paths = found.map(({ path }) => path);
  const { data } = index.safeParse(await readModelJson(services, files, INDEX));
  // Only files in the index are loaded. Others may hold the same weights in another layout.
  const named = new Set(data ? Object.values(data.weight_map) : []);
  const missing = named.size > 0 ? [...named.difference(new Set(paths))] : findMissingParts(paths);
  return {
    files: named.size > 0 ? found.filter(({ path }) => named.has(path)) : found,
    fault: nameMissing(asset.title, missing.toSorted()),
  };
}

/** Returns the JSON object in a model's file; null if it is missing, too large or not an object. */
export async function readModelJson(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  files: AssetRevision['files'],
  path: string,
): Promise<Record<string, unknown> | null> {
  const file = files.find((one) => one.path === path);
  if (!file || file.sizeBytes > BYTES_MAX) return null;
  try {
    return object.safeParse(JSON.parse(await text(await readBlob(services, file)))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** True if the model is a classifier, e.g. a reward model. It scores text but cannot generate it. */
export async function isClassifier(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { files }: Pick<AssetRevision, 'files'>,
): Promise<boolean> {
  const adapter = await readModelJson(services, files, 'adapter_config.json');
  if (adapter) return adapter.task_type === TASK;
  const config = await readModelJson(services, files, 'config.json');
  const architectures = Array.isArray(config?.architectures) ? config.architectures : [];
  return architectures.some((one) => typeof one === 'string' && ARCHITECTURE.test(one));
}

/** Returns the sentence, without a full stop, that explains why a classifier cannot be used. */
export function describeClassifier({ title }: { title: string }): string {
  return `${title} scores text but cannot generate it`;
}

/** Reads the metadata at the start of a GGUF file. */
export async function readGgufHead(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  file: AssetRevision['files'][number],
): Promise<GgufHead> {
  const end = Math.min(HEAD_BYTES, file.sizeBytes) - 1;
  return parseGgufHead(await buffer(await readBlob(services, { ...file, range: { start: 0, end } })));
}
