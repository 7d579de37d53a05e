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

/** Parameters of a model server. `gpus` is 0 on the CPU, `contextTokens` is 0 for pictures and videos. */
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
  /** Not produced here or not by this user, so its process must serve no other user. */
  isForeign: boolean;
  /** The licence to accept before deploying it. */
  licence?: LicenceName | null;
};

export type RequestedInstance = {
  instanceType: string;
  gpuCount: number;
  contextTokens?: number | undefined;
};

/** GPUs of one type, or null and 0 for the CPU. */
export type ServingPlacement = { accelerator: string | null; count: number };

/** Maximum tokens of a request with its answer, and the model's maximum if known. */
export type ServedContext = { tokens: number; max: number | null };

/**
 * `context` is null for pictures and videos; `notice` is set if another model than the requested one is
 * served.
 */
export type PlacedModel = {
  model: ServedModel;
  placement: ServingPlacement;
  context: ServedContext | null;
  notice?: string;
};

/** Reads the slots of the machine and its cluster. */
export type ReadCapacity = { capacity: () => Promise<Capacity> };

/**
 * Returns a model's placement and files. Null for an unknown instance type. Throws AppError 'not_found', or
 * 'conflict' for a model that it cannot serve.
 */
export type Place = (
  ctx: Context,
  parts: ReadCapacity,
  modelId: string,
  asked: RequestedInstance,
) => Promise<PlacedModel | null>;
