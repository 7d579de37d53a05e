import * as files from '@bakehouse/contract/hub/files';
import * as references from '@bakehouse/contract/hub/references';
import * as repositories from '@bakehouse/contract/hub/repositories';
import { type Binding, bind } from '../../platform/http/bind.ts';
import type { FindAssetUse } from '../assets/delete-asset.ts';
import { tagRevision, untagRevision } from './commits/change-tags.ts';
import { listDiscussions, refuseBranch, refuseDiscussion } from './commits/refuse-branches.ts';
import { showCommits, showReferences } from './commits/show-commits.ts';
import { validateCard } from './commits/validate-card.ts';
import { describePaths } from './files/describe-paths.ts';
import { listEntries } from './files/list-entries.ts';
import { resolveFile } from './files/resolve-file.ts';
import { describeHubError } from './hub-error.ts';
import {
  changeRepository,
  checkAccess,
  deleteRepository,
  moveRepository,
} from './repositories/change-repository.ts';
import { createRepository } from './repositories/create-repository.ts';
import { getRepository } from './repositories/get-repository.ts';
import { listRepositories } from './repositories/list-repositories.ts';
import { whoAmI } from './repositories/who-am-i.ts';

/** A copy of a repository is two calls for each of its files. */
const FILES_PER_MINUTE = 12_000;
const downloads = { ownCallsPerMinute: FILES_PER_MINUTE };

/** What clients of the model hub call, with errors as these read them. */
export function hubRoutes(parts: { findUses: FindAssetUse[] }): Binding[] {
  return [...repositoryRoutes(parts), ...fileRoutes(), ...referenceRoutes()].map((binding) => ({
    ...binding,
    describeError: describeHubError,
  }));
}

function repositoryRoutes({ findUses }: { findUses: FindAssetUse[] }): Binding[] {
  return [
    bind(repositories.whoAmI, (ctx) => whoAmI(ctx)),
    bind(repositories.listRepositories, listRepositories),
    bind(repositories.getRepository, getRepository),
    bind(repositories.getRepositoryRevision, getRepository),
    bind(repositories.checkRepositoryAccess, checkAccess),
    bind(repositories.createRepository, createRepository),
    bind(repositories.deleteRepository, (ctx, { body }) => deleteRepository(ctx, { body, findUses })),
    bind(repositories.moveRepository, moveRepository),
    bind(repositories.changeRepository, changeRepository),
  ];
}

function fileRoutes(): Binding[] {
  return [
    bind(files.listRepositoryFiles, listEntries),
    bind(files.listRepositoryFolder, listEntries),
    bind(files.describePaths, describePaths),
    bind(
      files.resolveModelFile,
      (ctx, { params }, http) => resolveFile(ctx, { type: 'models', params }, http),
      {
        ...downloads,
      },
    ),
    bind(
      files.resolveDatasetFile,
      (ctx, { params }, http) => resolveFile(ctx, { type: 'datasets', params }, http),
      { ...downloads },
    ),
  ];
}

function referenceRoutes(): Binding[] {
  return [
    bind(files.listRepositoryReferences, showReferences),
    bind(files.listCommits, showCommits),
    bind(references.createRepositoryTag, tagRevision),
    bind(references.deleteRepositoryTag, untagRevision),
    bind(references.validateCard, async (_ctx, input) => validateCard(input)),
    bind(references.createBranch, refuseBranch),
    bind(references.deleteBranch, refuseBranch),
    bind(references.listDiscussions, listDiscussions),
    bind(references.createDiscussion, refuseDiscussion),
  ];
}
