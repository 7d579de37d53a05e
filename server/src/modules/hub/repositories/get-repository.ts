import type { InputOf } from '@bakehouse/contract/endpoint';
import type { getRepositoryRevision as endpoint, RepositoryInfo } from '@bakehouse/contract/hub/repositories';
import type { Context } from '../../../platform/context.ts';
import { findCardData } from '../../assets/card/card-data.ts';
import { toCardFields } from '../../assets/card/card-metadata.ts';
import { BRANCH } from '../../assets/revisions/find-commit.ts';
import {
  CARD_PATH,
  type FileRow,
  findFilesOf,
  listFilesOf,
  type OfRevision,
} from '../../assets/revisions/read-tree.ts';
import { toLfs } from '../files/to-entry.ts';
import { describeRepository } from './describe-repository.ts';
import { openRevision } from './open-repository.ts';

/** Files read per query. */
const PAGE = 10_000;

type Query = InputOf<typeof endpoint>['query'];

/**
 * Returns a repository at a revision (default: the newest), with its files and the metadata of its card.
 * Throws HubError.
 */
export async function getRepository(
  ctx: Context,
  {
    params,
    query,
  }: { params: Omit<InputOf<typeof endpoint>['params'], 'revision'> & { revision?: string }; query: Query },
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
