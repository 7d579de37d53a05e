import * as commits from '@bakehouse/contract/hub/commits';
import * as files from '@bakehouse/contract/hub/files';
import * as lfs from '@bakehouse/contract/hub/lfs';
import * as references from '@bakehouse/contract/hub/references';
import * as repositories from '@bakehouse/contract/hub/repositories';
import * as xet from '@bakehouse/contract/hub/xet';
import type { FindAssetUse } from '../../modules/assets/asset-use.ts';
import type { CheckModelFile } from '../../modules/assets/files/upload/upload-file.ts';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { addressOf } from '../../platform/http/callers/rate-limits.ts';
import { preuploadFiles } from './commits/preupload-files.ts';
import { receiveCommit } from './commits/receive-commit.ts';
import {
  addBranch,
  listDiscussions,
  rejectDiscussion,
  removeBranch,
  tagRevision,
  untagRevision,
} from './commits/refs.ts';
import { showCommits, showReferences, validateCard } from './commits/show-commits.ts';
import { describePaths, listEntries, resolveFile } from './files.ts';
import { describeHubError } from './hub-error.ts';
import { completeParts, receivePart, startUploads, verifyObject } from './lfs.ts';
import {
  changeRepository,
  checkAccess,
  createRepository,
  deleteRepository,
  getRepository,
  listRepositories,
  moveRepository,
  whoAmI,
} from './repositories/repositories.ts';
import { receiveShard, streamShard } from './xet/receive-shard.ts';
import { receiveXorb, startUpload } from './xet/xorbs.ts';

/** High, because cloning needs two requests per file. */
const FILES_PER_MINUTE = 12_000;
/** Low, because each request starts a confined process that parses the card. */
const CARDS_PER_MINUTE = 60;
const transfers = { ownCallsPerMinute: FILES_PER_MINUTE };

type Parts = { findUses: FindAssetUse[]; checkModelFile: CheckModelFile };

/** Routes for clients of the model hub, with errors in the hub's format. */
export function hubRoutes(parts: Parts): Binding[] {
  return [...repositoryRoutes(parts), ...fileRoutes(), ...referenceRoutes(), ...commitRoutes(parts)].map(
    (binding) => ({
      ...binding,
      describeError: describeHubError,
    }),
  );
}

function repositoryRoutes({ findUses }: Pick<Parts, 'findUses'>): Binding[] {
  return [
    bind(repositories.whoAmI, (ctx) => whoAmI(ctx)),
    bind(repositories.listRepositories, (ctx, input, { request }) => listRepositories(ctx, input, request)),
    bind(repositories.getRepository, getRepository),
    bind(repositories.getRepositoryRevision, getRepository),
    bind(repositories.checkRepositoryAccess, checkAccess),
    bind(repositories.createRepository, (ctx, input, { request }) => createRepository(ctx, input, request)),
    bind(repositories.deleteRepository, (ctx, { body }) => deleteRepository(ctx, { body, findUses })),
    bind(repositories.moveRepository, moveRepository),
    bind(repositories.changeRepository, changeRepository),
  ];
}

function fileRoutes(): Binding[] {
  return [
    ...[files.listRepositoryFiles, files.listRepositoryFolder].map((endpoint) =>
      bind(endpoint, (ctx, input, { request }) => listEntries(ctx, input, request)),
    ),
    bind(files.describePaths, describePaths),
    ...[files.resolveModelFile, files.readModelFile].map((endpoint) => bindFile(endpoint, 'models')),
    ...[files.resolveDatasetFile, files.readDatasetFile].map((endpoint) => bindFile(endpoint, 'datasets')),
  ];
}

function bindFile(endpoint: typeof files.resolveModelFile, type: 'models' | 'datasets'): Binding {
  return bind(
    endpoint,
    (ctx, { params }, { request }) => resolveFile(ctx, { type, params }, request),
    transfers,
  );
}

function referenceRoutes(): Binding[] {
  return [
    bind(files.listRepositoryReferences, showReferences),
    bind(files.listCommits, (ctx, input, { request }) => showCommits(ctx, input, request)),
    bind(references.createRepositoryTag, tagRevision),
    bind(references.deleteRepositoryTag, untagRevision),
    bindPublic(
      references.validateCard,
      (ctx, input, { request }) => validateCard(ctx, input, addressOf(request)),
      { ownCallsPerMinute: CARDS_PER_MINUTE },
    ),
    bind(references.createBranch, addBranch),
    bind(references.deleteBranch, removeBranch),
    bind(references.listDiscussions, listDiscussions),
    bind(references.createDiscussion, rejectDiscussion),
  ];
}

function commitRoutes(parts: Pick<Parts, 'checkModelFile'>): Binding[] {
  return [
    bind(commits.preuploadFiles, preuploadFiles),
    bind(commits.commitFiles, (ctx, input, { request }) => receiveCommit(ctx, input, request, parts)),
    bind(lfs.batchModelFiles, (ctx, { params, body }, { request }) =>
      startUploads(ctx, { type: 'models', params, body }, request),
    ),
    bind(lfs.batchDatasetFiles, (ctx, { params, body }, { request }) =>
      startUploads(ctx, { type: 'datasets', params, body }, request),
    ),
    bindPublic(lfs.putLfsPart, (ctx, input, { request }) => receivePart(ctx, input, request), transfers),
    bindPublic(lfs.completeLfsUpload, completeParts),
    bind(lfs.verifyLfsObject, verifyObject),
    bind(xet.getXetWriteToken, (ctx, input, { request }) => startUpload(ctx, input, request)),
    bind(xet.putXorb, (ctx, input, { request }) => receiveXorb(ctx, input, request), transfers),
    bind(xet.putShard, receiveShard),
    bind(xet.streamShard, streamShard),
  ];
}
