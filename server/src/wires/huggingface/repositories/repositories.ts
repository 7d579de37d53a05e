import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/repositories';
import type {
  createRepository as createRepositoryEndpoint,
  getRepositoryRevision as getRepositoryRevisionEndpoint,
  listRepositories as listRepositoriesEndpoint,
  RepositoryInfo,
  RepositorySummary,
  whoAmI as whoAmIEndpoint,
} from '@bakehouse/contract/hub/repositories';
import { completeOnboardingStep } from '../../../modules/accounts/onboarding.ts';
import { findUserByName } from '../../../modules/accounts/steps.ts';
import { getMe } from '../../../modules/accounts/users.ts';
import { type Way, ways } from '../../../modules/assets/access/readable.ts';
import type { FindAssetUse } from '../../../modules/assets/asset-use.ts';
import { updateAsset } from '../../../modules/assets/assets.ts';
import { findCardData } from '../../../modules/assets/card/card-data.ts';
import { type CardFields, toCardFields } from '../../../modules/assets/card/card-metadata.ts';
import { insertAsset } from '../../../modules/assets/insert-asset.ts';
import type { AssetRow } from '../../../modules/assets/queries.ts';
import { deleteAsset } from '../../../modules/assets/remove-asset.ts';
import { renameAsset } from '../../../modules/assets/repositories/find-repository.ts';
import {
  isRepositoryName,
  namespaceOf,
  repositoryId,
  reserveAssetName,
  usernameOf,
} from '../../../modules/assets/repositories/namespace.ts';
import { BRANCH, emptyCommit, findCommitIds } from '../../../modules/assets/revisions/commits.ts';
import {
  CARD_PATH,
  type FileRow,
  findFilesOf,
  listFilesOf,
  type OfRevision,
} from '../../../modules/assets/revisions/read-tree.ts';
import type { ListFilter, SortKey } from '../../../modules/assets/search/list-queries.ts';
import { readPage } from '../../../modules/assets/search/read-page.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import type { Answer } from '../../../platform/http/answer.ts';
import { toLfs } from '../files.ts';
import { HubError } from '../hub-error.ts';
import { type Addressed, answerPage, hubUrl } from '../next-page.ts';
import {
  openRepository,
  openRepositoryToChange,
  openRevision,
  type RepositoryParams,
} from './open-repository.ts';

/** Number of files read per query. */
const PAGE = 10_000;

const PAGE_MAX = 100;

/** Reasons for which the caller may read repositories of other users. */
const OTHERS: readonly Way[] = ['published', 'shared', 'granted'];

type Done = { success: true };

type Body = InputOf<typeof createRepositoryEndpoint>['body'];

/**
 * Creates an empty model or dataset of the caller. Throws HubError 'conflict' with the URL of a repository of
 * the same name.
 */
export async function createRepository(
  ctx: Context,
  { body }: InputOf<typeof createRepositoryEndpoint>,
  request: Addressed,
): Promise<ResponseOf<typeof createRepositoryEndpoint>> {
  const { userId } = ctx.caller;
  const type = body.type ?? 'model';
  const { namespace, name } = await parseOwnRepositoryName(ctx, body);
  const url = `${hubUrl(request)}/${type === 'dataset' ? 'datasets/' : ''}${namespace}/${name}`;
  const id = await inTransaction(ctx.db, async (tx) => {
    if (!(await reserveAssetName(tx, { userId, type, name })))
      throw new HubError('conflict', null, `You have a ${type} ${namespace}/${name} already`, { url });
    return insertNew(tx, { userId, type, name, isPublished: isPublic(body) });
  });
  return { url, name: `${namespace}/${name}`, id };
}

async function insertNew(
  tx: Transaction,
  {
    userId,
    type,
    name,
    isPublished,
  }: { userId: string; type: 'model' | 'dataset'; name: string; isPublished: boolean },
): Promise<string> {
  const words = { title: name, name, category: '', details: '', tags: [], isPublished };
  const datasetType = type === 'model' ? 'MODEL' : 'RAW';
  const id = await insertAsset(tx, { ...words, ownerUserId: userId, datasetType });
  await completeOnboardingStep(tx, userId, type === 'model' ? 'create_model' : 'create_dataset');
  return id;
}

/** Reads the visibility from either of two fields. Defaults to private. */
function isPublic({ private: isPrivate, visibility }: Pick<Body, 'private' | 'visibility'>): boolean {
  return visibility === 'public' || isPrivate === false;
}

/**
 * Returns the repository's name from the body. Throws HubError if its namespace is not the caller's, or if
 * clients would reject the name.
 */
async function parseOwnRepositoryName(
  ctx: Context,
  { name: sent, organization }: Pick<Body, 'name' | 'organization'>,
): Promise<{ namespace: string; name: string }> {
  const parts = sent.split('/');
  const name = parts.at(-1) ?? '';
  const requested = organization || (parts.length === 2 ? parts[0] : undefined);
  const namespace = namespaceOf((await getMe(ctx)).username);
  if (requested !== undefined && requested.toLowerCase() !== namespace) {
    throw new HubError(
      'forbidden',
      null,
      `You have no rights in the namespace ${requested}. Yours is ${namespace}`,
    );
  }
  if (parts.length > 2 || !isRepositoryName(name)) {
    throw new HubError(
      'invalid_request',
      null,
      'name must have 1 to 96 letters, digits, dots, dashes or underscores. It must not begin or end with a dot or a dash, ' +
        'have two of them in a row, or end with .git',
    );
  }
  return { namespace, name };
}

type About = {
  userId: string;
  /** The commit's id; for an asset without files, the id of its initial commit. */
  sha?: string | undefined;
  /** The card of the described revision. Defaults to the newest card. */
  card?: CardFields;
};

/** Returns the summary of a repository for lists. */
function describeRepository(asset: AssetRow, { userId, sha, card = asset }: About): RepositorySummary {
  const id = repositoryId(asset);
  // An operator has granted the caller access to this restricted repository.
  const isGranted = asset.is_restricted && asset.owner_user_id !== userId;
  return {
    _id: asset.id,
    id,
    ...(asset.dataset_type === 'MODEL' && { modelId: id }),
    author: namespaceOf(asset.owner_username),
    sha: sha ?? emptyCommit(asset).commitId,
    lastModified: asset.updated_at.toISOString(),
    createdAt: asset.created_at.toISOString(),
    private: !asset.is_starter && !asset.is_published && !isGranted,
    gated: isGranted ? 'manual' : false,
    disabled: false,
    downloads: Number(asset.downloads),
    likes: 0,
    tags: [...new Set([...asset.tags, ...card.card_tags])],
    ...(card.pipeline_tag !== null && { pipeline_tag: card.pipeline_tag }),
    ...(card.library_name !== null && { library_name: card.library_name }),
  };
}

/** Does nothing if the caller may read the repository. Throws HubError otherwise. */
export async function checkAccess(
  ctx: Context,
  { params }: { params: RepositoryParams },
): Promise<Done & { _id: string }> {
  const { id } = await openRepository(ctx, params);
  return { success: true, _id: id };
}

/** Renames a repository of the caller within its namespace. Throws HubError. */
export async function moveRepository(
  ctx: Context,
  { body }: InputOf<typeof contract.moveRepository>,
): Promise<Done> {
  const from = await parseOwnRepositoryName(ctx, { name: body.fromRepo });
  const { name } = await parseOwnRepositoryName(ctx, { name: body.toRepo });
  const asset = await openRepositoryToChange(ctx, { type: toTypes(body.type), ...from });
  await renameAsset(ctx, { assetId: asset.id, name });
  return { success: true };
}

type Query = InputOf<typeof getRepositoryRevisionEndpoint>['query'];

/**
 * Returns a repository at a revision (default: the newest), with its files and the metadata of its card.
 * Throws HubError.
 */
export async function getRepository(
  ctx: Context,
  {
    params,
    query,
  }: {
    params: Omit<InputOf<typeof getRepositoryRevisionEndpoint>['params'], 'revision'> & { revision?: string };
    query: Query;
  },
): Promise<RepositoryInfo> {
  const { asset, commit } = await openRevision(ctx, { ...params, revision: params.revision ?? BRANCH });
  const of = { assetId: asset.id, number: commit.number };
  const expand = [...query.expand, ...query['expand[]']];
  const [readme] = await findFilesOf(ctx.db, { ...of, paths: [CARD_PATH] });
  const card = await findCardData(ctx, readme);
  const files = expand.length === 0 || expand.includes('siblings') ? await listAll(ctx, of) : null;
  return {
    ...describeRepository(asset, {
      ...{ userId: ctx.caller.userId, sha: commit.commitId },
      card: toCardFields(card),
    }),
    ...(card && { cardData: card }),
    ...(files && { siblings: files.map((file) => toSibling(file, query.blobs)) }),
    usedStorage: Number(asset.size_bytes),
  };
}

async function listAll({ db }: Context, of: OfRevision): Promise<FileRow[]> {
  const files: FileRow[] = [];
  for (let after: string | null = null; ; after = files.at(-1)?.path ?? null) {
    const page = await listFilesOf(db, { ...of, folder: '', after, limit: PAGE });
    files.push(...page);
    if (page.length < PAGE) return files;
  }
}

function toSibling(file: FileRow, withBlobs: boolean): NonNullable<RepositoryInfo['siblings']>[number] {
  if (!withBlobs) return { rfilename: file.path };
  const { blobId, size, pointerSize } = toLfs(file);
  return { rfilename: file.path, size, blobId, lfs: { sha256: file.sha256, size, pointerSize } };
}

/** Returns a page of the models or datasets that the caller may read. */
export async function listRepositories(
  ctx: Context,
  { params, query }: InputOf<typeof listRepositoriesEndpoint>,
  request: Addressed,
): Promise<Answer<ResponseOf<typeof listRepositoriesEndpoint>>> {
  const { userId } = ctx.caller;
  const readers = await readersOf(ctx, query.author);
  const { rows, nextCursor } = await readPage(ctx.db, {
    userId,
    type: params.type === 'models' ? 'MODEL' : 'RAW',
    ...readers,
    search: query.search,
    tags: query.filter,
    task: query.pipeline_tag || undefined,
    sort: sortOf(query.sort),
    cursor: query.cursor,
    limit: Math.min(query.limit, PAGE_MAX),
  });
  const shas = await findCommitIds(
    ctx.db,
    rows.flatMap(({ revision_id }) => revision_id ?? []),
  );
  const shown = rows.map((row) => describeRepository(row, { userId, sha: shas.get(row.revision_id ?? '') }));
  return answerPage(request, shown, { field: 'cursor', value: nextCursor });
}

/** Converts the client's sort key. Unknown keys sort by the last change. */
function sortOf(sort: string | undefined): SortKey {
  if (sort === 'createdAt' || sort === 'created_at') return 'created';
  return sort === 'downloads' ? 'downloads' : 'updated';
}

/** Returns which owner's repositories are requested, and for which reasons the caller may read them. */
async function readersOf(
  { db, caller }: Context,
  author: string | undefined,
): Promise<Pick<ListFilter, 'whose' | 'ownerId'>> {
  if (author === undefined || author === '') return { whose: ways };
  const username = usernameOf(author);
  if (username === null) return { whose: ['starter'] };
  const owner = username === undefined ? undefined : await findUserByName(db, username);
  if (!owner) return { whose: [] };
  return { whose: owner.id === caller.userId ? ['own'] : OTHERS, ownerId: owner.id };
}

/** Returns the caller and their namespace. */
export async function whoAmI(ctx: Context): Promise<ResponseOf<typeof whoAmIEndpoint>> {
  const me = await getMe(ctx);
  const mayWrite = ctx.caller.key?.scopes.includes('everything') ?? true;
  return {
    type: 'user',
    id: me.id,
    name: namespaceOf(me.username),
    fullname: me.name,
    email: me.email,
    emailVerified: me.email_verified,
    isPro: false,
    canPay: false,
    orgs: [],
    auth: {
      type: 'access_token',
      accessToken: { displayName: 'Bakehouse', role: mayWrite ? 'write' : 'read' },
    },
  };
}

/** Changes the visibility of a repository of the caller. Throws HubError. */
export async function changeRepository(
  ctx: Context,
  { params, body }: InputOf<typeof contract.changeRepository>,
): Promise<Done> {
  const asset = await openRepositoryToChange(ctx, params);
  if (body.gated) {
    throw new HubError(
      'invalid_request',
      null,
      'Only an operator can restrict a model. They do so by its id',
    );
  }
  const isSaid = body.private !== undefined || body.visibility !== undefined;
  await updateAsset(ctx, { assetId: asset.id, changes: isSaid ? { is_published: isPublic(body) } : {} });
  return { success: true };
}

function toTypes(type: 'model' | 'dataset' | null | undefined): 'models' | 'datasets' {
  return type === 'dataset' ? 'datasets' : 'models';
}

/** Deletes a repository of the caller. Throws HubError, and the errors of `deleteAsset`. */
export async function deleteRepository(
  ctx: Context,
  { body, findUses }: Pick<InputOf<typeof contract.deleteRepository>, 'body'> & { findUses: FindAssetUse[] },
): Promise<Done> {
  const named = await parseOwnRepositoryName(ctx, body);
  const asset = await openRepositoryToChange(ctx, { type: toTypes(body.type), ...named });
  await deleteAsset(ctx, { assetId: asset.id, findUses });
  return { success: true };
}
