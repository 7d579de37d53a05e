import type { LicenceName } from '@bakehouse/contract/licences';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Capacity } from '../../engine/model/capacity.ts';
import type { Context } from '../../platform/context.ts';
import type { AssetRevision } from '../assets/read-revision.ts';

/** Files of a base model that one engine loads. */
export type ServedBase = {
  engine: string;
  files: InputFile[];
  /** Hash of the paths and contents; identifies the base. */
  filesSha256: string;
};

/** Converts the base's files to the form that storage functions expect. */
export function storedFiles({ files }: Pick<ServedBase, 'files'>): AssetRevision['files'] {
  return files.map(({ size_bytes, ...file }) => ({ ...file, sizeBytes: size_bytes }));
}

/** Parameters of a model server. `gpus` is 0 on the CPU. `contextTokens` is 0 for image models. */
export type ServerParts = {
  base: Pick<ServedBase, 'engine' | 'files'>;
  adapters: ServedAdapter[];
  gpus: number;
  contextTokens: number;
};

/** An adapter loaded together with a base. */
export type ServedAdapter = {
  revisionId: string;
  files: InputFile[];
  /** The file that the engine opens; empty if it opens the folder. */
  file: string;
  rank: number;
};

export type ServedModel = {
  assetId: string;
  revisionId: string;
  title: string;
  baseAssetId: string;
  baseTitle: string;
  base: ServedBase;
  /** Null if the base itself is served. */
  adapter: ServedAdapter | null;
  /**
   * The files were not produced here or belong to another user, so the process must not serve other users.
   */
  isForeign: boolean;
  /** The licence to accept before deploying it. */
  licence?: LicenceName | null;
};

export type RequestedInstance = {
  instanceType: string;
  gpuCount: number;
  contextTokens?: number | undefined;
};

/** GPUs of one type. On the CPU, `accelerator` is null and `count` is 0. */
export type ServingPlacement = { accelerator: string | null; count: number };

/** Maximum tokens of a request together with its answer. `max` is the model's own limit; null if unknown. */
export type ServedContext = { tokens: number; max: number | null };

/**
 * `context` is null for image models. `notice` tells the user if another model is served than the requested
 * one.
 */
export type PlacedModel = {
  model: ServedModel;
  placement: ServingPlacement;
  context: ServedContext | null;
  notice?: string;
};

/** Reads how much work this machine and its cluster can run. */
export type ReadCapacity = { capacity: () => Promise<Capacity> };

/**
 * Returns a model's placement and files. Returns null for an unknown instance type. Throws AppError
 * 'not_found', and 'conflict' for a model that cannot be served.
 */
export type Place = (
  ctx: Context,
  parts: ReadCapacity,
  modelId: string,
  asked: RequestedInstance,
) => Promise<PlacedModel | null>;
