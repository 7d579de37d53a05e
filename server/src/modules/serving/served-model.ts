import type { LicenceName } from '@bakehouse/contract/licences';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import type { WorkloadSpec } from '../../engine/model/workload.ts';
import type { Context } from '../../platform/context.ts';
import type { PriceId } from '../credits/prices/prices.ts';
import type { ServingParts } from '../deployments/serving-parts.ts';
import type { DeploymentState } from '../deployments/kinds/deployment-state.ts';
import type { ServerKindName } from '../deployments/kinds/kinds.ts';

/** The files of a base model, as one engine loads them. */
export type ServedBase = {
  engine: string;
  files: InputFile[];
  /** Over the paths and hashes of the files: the same value, the same base. */
  filesSha256: string;
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
  /** It was not made here, so the process that loads it answers for nobody else. */
  isForeign: boolean;
  /** What has to be accepted before it is deployed. */
  licence?: LicenceName | null;
};

export type RequestedInstance = { instanceType: string; gpuCount: number };

/** GPUs of one type, or the CPU: null and 0. */
export type ServingPlacement = { accelerator: string | null; count: number };

export type PlacedModel = { model: ServedModel; placement: ServingPlacement };

/**
 * Where a model of a kind is served, and what has to be loaded there. Null for an unknown instance type. Throws
 * AppError 'not_found', or 'conflict' for a model that it cannot serve.
 */
type Place = (
  ctx: Context,
  parts: Pick<ServingParts, 'capacity'>,
  modelId: string,
  asked: RequestedInstance,
) => Promise<PlacedModel | null>;

/** What differs between kinds of model servers. */
export type ServerKind = {
  /** For a starter model. */
  place: Place;
  /** What the runtime is told, which reports when the server answers, and when it hangs. */
  spec: (base: Pick<ServedBase, 'engine' | 'files'>, adapters: ServedAdapter[], gpus: number) => WorkloadSpec;
};

/** The one table of what differs between kinds of deployments; the lifecycle is the same for all. */
export type DeploymentKind = {
  /** What serves it. */
  server: ServerKindName;
  /** For what somebody deploys. */
  place: Place;
  /** What an hour costs, on the CPU or for each GPU. */
  hourPrice: Record<'CPU' | 'GPU', PriceId>;
  /** The wire's words. */
  states: Record<DeploymentState, string>;
};
