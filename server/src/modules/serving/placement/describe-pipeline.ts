import { createHash } from 'node:crypto';
import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import type { LicenceName } from '@bakehouse/contract/licences';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import { type AppError, conflict } from '../../../platform/errors.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { PIPELINE_INDEX, type PipelineIndex } from '../../assets/recognise/pipelines.ts';
import { findMissingShards, nameMissing } from '../../models/weights/missing-parts.ts';
import type { ImageEngine } from '../image-spec.ts';
import type { ServedBase } from '../served-model.ts';
import { type ImageMemory, memoryOfAllWeights, parisMemory } from './image-memory.ts';

const TEXT_ENCODERS = ['text_encoder', 'text_encoder_2'];
const TOKENIZERS = ['tokenizer', 'tokenizer_2'];

/** Range of token limits that the sentence encoder of the runtime supports. */
const TEXT_WINDOW = { min: 2, max: 256 };

/** Files that the runtime loads: weights, configurations and tokenizers. */
const LOADED = /\.(safetensors|json|txt|model)$/;

const flux = {
  engine: 'kontext',
  licence: 'flux-1-dev-non-commercial',
  needed: neededOfFlux,
  memory: memoryOfAllWeights,
} as const satisfies Omit<Family, 'what' | 'standIn'>;

export const families: Record<ImageDeploymentKind, Family> = {
  flux: {
    ...flux,
    what: 'FLUX model',
    standIn: { for: /^black-forest-labs\/FLUX\.1-(dev|schnell|Kontext-dev)$/, starter: KONTEXT_STARTER },
  },
  'flux-kontext': {
    ...flux,
    what: 'FLUX Kontext model',
    standIn: { for: /^black-forest-labs\/FLUX\.1-Kontext-dev$/, starter: KONTEXT_STARTER },
  },
  paris: {
    what: 'Paris model',
    engine: 'paris',
    licence: null,
    needed: neededOfParis,
    memory: parisMemory,
    standIn: null,
  },
  wan: {
    what: 'Wan model',
    engine: 'wan',
    licence: null,
    needed: neededOfWan,
    memory: memoryOfAllWeights,
    standIn: { for: /^Wan-AI\/Wan2\.2-TI2V-5B$/, starter: WAN_STARTER },
  },
};

type Family = {
  /** Display name of this kind of model. */
  what: string;
  engine: ImageEngine;
  /** Licence of the weights. A model card with an open licence overrides it. */
  licence: LicenceName | null;
  /** Returns the parts that a model with this index and these files must have. */
  needed: (index: PipelineIndex, paths: string[]) => NeededParts;
  memory: (weights: InputFile[]) => ImageMemory;
  /** A starter that is deployed for these hub names if the user has no model with such a name. */
  standIn: { for: RegExp; starter: string } | null;
};

/**
 * Returns the folders of the pipeline, which the runtime loads. Other files are ignored, e.g. a single file
 * with all weights. Throws AppError 'conflict' if a part is missing.
 */
export function describePipeline(
  { title, files }: { title: string; files: AssetRevision['files'] },
  index: PipelineIndex,
  { engine, needed }: Family,
): ServedBase {
  const loaded = files
    .filter(({ path }) => path === PIPELINE_INDEX || (path.includes('/') && LOADED.test(path)))
    .map(({ path, sha256, sizeBytes }) => ({ path, sha256, size_bytes: sizeBytes }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const paths = loaded.map(({ path }) => path);
  const { weights, others } = needed(index, paths);
  const withoutWeights = weights.find(
    (part) => !loaded.some((file) => isWeights(file) && file.path.startsWith(`${part}/`)),
  );
  if (withoutWeights !== undefined)
    throw lacks(title, `no weights in safetensors in its folder ${withoutWeights}`);
  const missing = others.find((part) => !paths.some((path) => path === part || path.startsWith(`${part}/`)));
  if (missing !== undefined) throw lacks(title, `no ${missing}`);
  const incomplete = nameMissing(title, findMissingShards(paths));
  if (incomplete) throw conflict(incomplete, { param: 'model_id' });
  return { engine, files: loaded, filesSha256: hashFiles(loaded) };
}

function lacks(title: string, what: string): AppError {
  return conflict(`${title} has ${what}`, { param: 'model_id' });
}

/** Returns the sentence for a model that is too large for each GPU. */
export function describeMissingGpu(title: string, gib: number): string {
  return `${title} needs a GPU with at least ${gib} GB of memory, and this server has none`;
}

export function isWeights({ path }: { path: string }): boolean {
  return path.endsWith('.safetensors');
}

/** Parts that a model must have: folders with weights, and other folders or files. */
type NeededParts = { weights: string[]; others: string[] };

/*
 * These rules must match the runtime's: `_checked_index` and `_has_text_encoders` in
 * image/kontext/pipeline.py, `load_text_encoder` in image/paris/pipeline.py. The runtime checks everything
 * else when it loads a model.
 */

/**
 * Returns the parts of a FLUX model. If its index names a text encoder or a tokenizer, it must have both of
 * each.
 */
function neededOfFlux(index: PipelineIndex): NeededParts {
  const hasTextEncoders = [...TEXT_ENCODERS, ...TOKENIZERS].some((part) => isNamed(index[part]));
  return {
    weights: ['transformer', 'vae', ...(hasTextEncoders ? TEXT_ENCODERS : [])],
    others: ['scheduler/scheduler_config.json', ...(hasTextEncoders ? TOKENIZERS : [])],
  };
}

/**
 * Returns the parts of a Paris model. It needs a text encoder and tokenizer of its own, unless its index has
 * a token limit for the runtime's sentence encoder.
 */
function neededOfParis(index: PipelineIndex, paths: string[]): NeededParts {
  const hasTextEncoder = paths.some((path) => path.startsWith('text_encoder/')) || !namesWindow(index);
  return {
    weights: ['expert_0', 'router', 'vae', ...(hasTextEncoder ? ['text_encoder'] : [])],
    others: hasTextEncoder ? ['tokenizer'] : [],
  };
}

/**
 * Returns the parts of a Wan model. The second transformer, text encoder, image encoder and their tokenizer
 * and processor are needed only if its index names them.
 */
function neededOfWan(index: PipelineIndex): NeededParts {
  const named = (part: string) => isNamed(index[part]);
  return {
    weights: ['transformer', 'vae', ...['transformer_2', 'text_encoder', 'image_encoder'].filter(named)],
    others: ['scheduler/scheduler_config.json', ...['tokenizer', 'image_processor'].filter(named)],
  };
}

/** True if the index names the part. An omitted part is [null, null]. */
function isNamed(part: unknown): boolean {
  const isNone = Array.isArray(part) && part.length === 2 && part.every((name) => name === null);
  return part !== undefined && part !== null && !isNone;
}

function namesWindow({ text_window: window }: PipelineIndex): boolean {
  return (
    typeof window === 'number' &&
    Number.isInteger(window) &&
    window >= TEXT_WINDOW.min &&
    window <= TEXT_WINDOW.max
  );
}

/** Returns a hash of the files' paths and contents. */
export function hashFiles(files: InputFile[]): string {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) hash.update(`${sha256} ${path}\n`);
  return hash.digest('hex');
}
