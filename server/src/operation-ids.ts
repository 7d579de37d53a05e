import * as accounts from '@bakehouse/contract/accounts';
import * as apiKeys from '@bakehouse/contract/api-keys';
import * as assetCommits from '@bakehouse/contract/asset-commits';
import * as assetFiles from '@bakehouse/contract/asset-files';
import * as assetShares from '@bakehouse/contract/asset-shares';
import * as assetUploads from '@bakehouse/contract/asset-uploads';
import * as assets from '@bakehouse/contract/assets';
import * as audit from '@bakehouse/contract/audit';
import * as bagelml from '@bakehouse/contract/bagelml';
import * as batches from '@bakehouse/contract/batches';
import * as captions from '@bakehouse/contract/captions';
import * as chat from '@bakehouse/contract/chat';
import * as chatRows from '@bakehouse/contract/chat-rows';
import * as chatTools from '@bakehouse/contract/chat-tools';
import * as codes from '@bakehouse/contract/codes';
import * as configurations from '@bakehouse/contract/configurations';
import * as contact from '@bakehouse/contract/contact';
import * as conversations from '@bakehouse/contract/conversations';
import * as credits from '@bakehouse/contract/credits';
import * as dataFiles from '@bakehouse/contract/data-files';
import * as allDeployments from '@bakehouse/contract/deployments/all';
import * as imageDeployments from '@bakehouse/contract/deployments/images';
import * as deployments from '@bakehouse/contract/deployments/text';
import { samplePrompt } from '@bakehouse/contract/diffusion-fields';
import * as diffusionTraining from '@bakehouse/contract/diffusion-training';
import * as documentation from '@bakehouse/contract/documentation';
import * as drafts from '@bakehouse/contract/drafts';
import * as embeddings from '@bakehouse/contract/embeddings';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import * as errorReports from '@bakehouse/contract/error-reports';
import * as errors from '@bakehouse/contract/errors';
import * as events from '@bakehouse/contract/events';
import * as exported from '@bakehouse/contract/exports';
import * as fileLinks from '@bakehouse/contract/file-links';
import * as training from '@bakehouse/contract/fine-tuning';
import * as fineTuningJobs from '@bakehouse/contract/fine-tuning-jobs';
import * as gallery from '@bakehouse/contract/gallery';
import * as generations from '@bakehouse/contract/generations';
import * as generators from '@bakehouse/contract/generators';
import * as graders from '@bakehouse/contract/graders';
import * as hubClones from '@bakehouse/contract/hub/clones';
import * as hubCommits from '@bakehouse/contract/hub/commits';
import * as hubFiles from '@bakehouse/contract/hub/files';
import * as hubLfs from '@bakehouse/contract/hub/lfs';
import * as publicHub from '@bakehouse/contract/hub/public';
import * as hubReferences from '@bakehouse/contract/hub/references';
import * as hubRepositories from '@bakehouse/contract/hub/repositories';
import * as hubShared from '@bakehouse/contract/hub/shared';
import * as hubXet from '@bakehouse/contract/hub/xet';
import * as ipfs from '@bakehouse/contract/ipfs';
import * as kontext from '@bakehouse/contract/kontext';
import * as licences from '@bakehouse/contract/licences';
import * as loras from '@bakehouse/contract/loras';
import * as machine from '@bakehouse/contract/machines';
import * as pictures from '@bakehouse/contract/media';
import * as messages from '@bakehouse/contract/messages';
import * as notifications from '@bakehouse/contract/notifications';
import * as openAiFiles from '@bakehouse/contract/openai-files';
import * as images from '@bakehouse/contract/openai-images';
import * as openAiVideos from '@bakehouse/contract/openai-videos';
import * as paris from '@bakehouse/contract/paris';
import * as prices from '@bakehouse/contract/prices';
import * as privacy from '@bakehouse/contract/privacy';
import * as profile from '@bakehouse/contract/profile';
import * as purchases from '@bakehouse/contract/purchases';
import * as referrals from '@bakehouse/contract/referrals';
import * as responses from '@bakehouse/contract/responses';
import * as restrictedModels from '@bakehouse/contract/restricted-models';
import * as runs from '@bakehouse/contract/runs';
import * as trainSpec from '@bakehouse/contract/runtime/train-spec';
import { fileNote } from '@bakehouse/contract/runtime/validate-pictures-spec';
import * as search from '@bakehouse/contract/search';
import * as shareLinks from '@bakehouse/contract/share-links';
import * as sql from '@bakehouse/contract/sql';
import * as trackers from '@bakehouse/contract/trackers';
import * as videos from '@bakehouse/contract/videos';
import * as visitors from '@bakehouse/contract/visitors';
import * as work from '@bakehouse/contract/work';
import * as workloads from '@bakehouse/contract/workloads';
import * as z from 'zod';

const { dataFormat, droppedRow, formatName, sample, samplePart, turn } = trainSpec;
/** Objects that calls of several modules share. */
const sharedParts = { dataFormat, droppedRow, fileNote, formatName, sample, samplePart, samplePrompt, turn };

const modules = [
  accounts,
  allDeployments,
  apiKeys,
  assetCommits,
  assetFiles,
  assetShares,
  assetUploads,
  assets,
  bagelml,
  batches,
  audit,
  captions,
  chat,
  chatRows,
  chatTools,
  codes,
  configurations,
  contact,
  conversations,
  credits,
  dataFiles,
  deployments,
  documentation,
  drafts,
  embeddings,
  errorReports,
  errors,
  events,
  fileLinks,
  fineTuningJobs,
  gallery,
  generations,
  generators,
  graders,
  hubCommits,
  hubFiles,
  hubLfs,
  hubReferences,
  hubShared,
  hubRepositories,
  hubXet,
  hubClones,
  images,
  imageDeployments,
  ipfs,
  kontext,
  licences,
  loras,
  machine,
  messages,
  pictures,
  prices,
  publicHub,
  paris,
  privacy,
  restrictedModels,
  profile,
  referrals,
  responses,
  notifications,
  openAiFiles,
  openAiVideos,
  purchases,
  search,
  shareLinks,
  sql,
  trackers,
  training,
  exported,
  runs,
  diffusionTraining,
  videos,
  visitors,
  work,
  workloads,
  sharedParts,
];

const NAMED_TYPES = new Set<string>(['object', 'union', 'enum']);

/**
 * Returns the operation id of each endpoint, which generated clients use as a name: the name of its export,
 * or verb and kind, as in `deployFlux`.
 */
export const operationIds: Map<Endpoint, string> = new Map([
  ...modules
    .flatMap((module): [string, unknown][] => Object.entries(module))
    .flatMap(([name, value]): [Endpoint, string][] => (isEndpoint(value) ? [[value, name]] : [])),
  ...Object.entries(imageDeployments.imageCalls).flatMap(([kind, calls]) =>
    Object.entries(calls).map(([verb, call]): [Endpoint, string] => [call, `${verb}${pascalCase(kind)}`]),
  ),
]);

/**
 * Names the objects, alternatives and enums that the contract exports, as in `AssetSummary`. The OpenAPI
 * document then defines each of them only once.
 */
export function nameSchemas(): void {
  // Skip these, because OpenAPI lists their fields one by one.
  const unnamed = new Set<unknown>(
    [...operationIds.keys()].flatMap(({ params, query, upload }) => [
      ...[params, query],
      ...(typeof upload === 'object' ? [upload.fields] : []),
    ]),
  );
  const byName = new Map<string, unknown>();
  for (const [name, schema] of modules.flatMap((module): [string, unknown][] => Object.entries(module))) {
    if (!(schema instanceof z.ZodType) || !NAMED_TYPES.has(schema.type) || unnamed.has(schema)) continue;
    const id = pascalCase(name);
    if ((byName.get(id) ?? schema) !== schema) throw new Error(`Two schemas of the contract are named ${id}`);
    byName.set(id, schema);
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id });
  }
}

function pascalCase(kind: string): string {
  return kind.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'access' in value && 'path' in value;
}
