import type { LicenceName } from '@bakehouse/contract/licences';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { Capacity } from '../../engine/model/capacity.ts';
import type { Context } from '../../platform/context.ts';
import type { AssetRevision } from '../assets/read-revision.ts';

/** The files of a base model, as one engine loads them. */
export type ServedBase = {
  engine: string;
  files: InputFile[];
  /** Over the paths and hashes of the files: the same value, the same base. */
  filesSha256: string;
};

/** Its files as they are read from storage. */
export function storedFiles({ files }: Pick<ServedBase, 'files'>): AssetRevision['files'] {
  return files.map(({ size_bytes, ...file }) => ({ ...file, sizeBytes: size_bytes }));
}

/** What a model server is started with: `gpus` is 0 on the CPU, and `contextTokens` where it makes pictures or videos. */
export type ServerParts = {
  base: Pick<ServedBase, 'engine' | 'files'>;
  adapters: ServedAdapter[];
  gpus: number;
  contextTokens: number;
};

/** What is loaded beside a base. */
export type ServedAdapter = {
  revisionId: string;
  files: InputFile[];
  /** Which of them the engine opens; empty where it opens the folder. */
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
  /** Null: the base itself is served. */
  adapter: ServedAdapter | null;
  /** It was not made here, or not by this user, so the process that loads it answers for nobody else. */
  isForeign: boolean;
  /** What has to be accepted before it is deployed. */
  licence?: LicenceName | null;
};

export type RequestedInstance = {
  instanceType: string;
  gpuCount: number;
  contextTokens?: number | undefined;
};

/** GPUs of one type, or the CPU: null and 0. */
export type ServingPlacement = { accelerator: string | null; count: number };

/** How many tokens a request may have with its answer, and the most that the model was made to read, where that is known. */
export type ServedContext = { tokens: number; max: number | null };

/** `context` is null where pictures or videos are made; `notice` says that another model than the named one is served. */
export type PlacedModel = {
  model: ServedModel;
  placement: ServingPlacement;
  context: ServedContext | null;
  notice?: string;
};

/** The slots of the machine and its cluster, read when they are asked for. */
export type ReadCapacity = { capacity: () => Promise<Capacity> };

/**
 * Where a model of a kind is served, and what has to be loaded there. Null for an unknown instance type. Throws
 * AppError 'not_found', or 'conflict' for a model that it cannot serve.
 */
export type Place = (
  ctx: Context,
  parts: ReadCapacity,
  modelId: string,
  asked: RequestedInstance,
) => Promise<PlacedModel | null>;
