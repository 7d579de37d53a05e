import type { InputOf } from '@bakehouse/contract/endpoint';
import {
  type getHubRepository as endpoint,
  HUB_FILES_SHOWN_MAX,
  type HubRepositoryDetails,
} from '@bakehouse/contract/hub/public';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Quota, readQuota } from '../../assets/files/storage-quota.ts';
import { findClonedAsset } from '../../assets/sources/sources.ts';
import type { Foresee, RemoteModel } from '../../models/remote-model.ts';
import { chooseFiles } from './choose-files.ts';
import { familyOf } from './family-of.ts';
import { type HubClient, hubClient, type Repo, type RepoFile, type RepoInfo } from './hub-client.ts';
import { FILES_MAX } from './limits.ts';
import { readRemoteJson } from './read-remote-json.ts';
import { findHubAccess } from './tokens.ts';

/** Predict how a model of the hub could be used here; supplied by the modules that would use it. */
export type ForeseeUses = { deploy: Foresee; train: Foresee };

type Query = InputOf<typeof endpoint>['query'];

/**
 * Returns what a clone of a repository would contain, and any obstacle. Throws AppError 'not_found' and
 * 'unavailable'.
 */
export async function describeRepository(
  ctx: Context,
  { repo_id, repo_type: type, include_file_info: includesFiles }: Query,
  { foresee, signal }: { foresee: ForeseeUses; signal: AbortSignal },
): Promise<HubRepositoryDetails> {
  const { userId } = ctx.caller;
  const hub = hubClient(await findHubAccess(ctx, userId), signal);
  const info = await hub.describe({ type, id: repo_id });
  const repo = { type, id: info.repo_id };
  const files = await hub.listFiles(repo, info.revision, FILES_MAX);
  const { copied, leftOut, fault } = chooseFiles(type, files);
  const left = new Set(leftOut);
  const [quota, diskLeft, locked] = await Promise.all([
    readQuota(ctx, userId),
    ctx.blobs.freeBytes(),
    info.gated ? findLock(hub, repo) : null,
  ]);
  const bytes = sizeOf(copied);
  const uses =
    type === 'model' ? await foreseeUses(hub, { repo, info, copied, foresee, locked, signal }) : null;
  return {
    ...info,
    ...(uses ?? { family: '', deploy: null, train: null }),
    file_count: copied.length,
    size_bytes: bytes,
    left_out: { file_count: leftOut.length, size_bytes: sizeOf(leftOut) },
    files: includesFiles
      ? files
          .slice(0, HUB_FILES_SHOWN_MAX)
          .map((file) => ({ path: file.path, size_bytes: file.sizeBytes, left_out: left.has(file) }))
      : [],
    quota_left_bytes: quota?.leftBytes ?? null,
    disk_left_bytes: diskLeft,
    obstacle: locked ?? fault ?? findLackOfRoom(bytes, quota, diskLeft),
    cloned_asset_id: await findClonedAsset(ctx.db, { userId, repoId: repo.id, type }),
  };
}

/** Returns why a gated repository is closed to the user; null if it is open. */
async function findLock(hub: HubClient, repo: Repo): Promise<string | null> {
  try {
    await hub.requireAccess(repo);
    return null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return error.publicMessage;
    throw error;
  }
}

type Foreseeing = {
  repo: Repo;
  info: Pick<RepoInfo, 'revision'>;
  copied: RepoFile[];
  foresee: ForeseeUses;
  /** If set, no file can be read. */
  locked: string | null;
  signal: AbortSignal;
};

async function foreseeUses(
  hub: HubClient,
  { repo, info, copied, foresee, locked, signal }: Foreseeing,
): Promise<Pick<HubRepositoryDetails, 'family' | 'deploy' | 'train'>> {
  const read = new Map<string, Promise<Record<string, unknown> | null>>();
  const model: RemoteModel = {
    title: repo.id.slice(repo.id.indexOf('/') + 1),
    files: copied,
    readJson: async (path) => {
      if (locked) return null;
      const file = copied.find((one) => one.path === path);
      const known = read.get(path) ?? readRemoteJson(hub, { repo, revision: info.revision, file, signal });
      read.set(path, known);
      return known;
    },
  };
  const [deploy, train, family] = await Promise.all([
    foresee.deploy(model),
    foresee.train(model),
    familyOf(model.readJson),
  ]);
  return { deploy, train, family };
}

export function findLackOfRoom(bytes: number, quota: Quota, diskLeft: number | null): string | null {
  if (quota && bytes > quota.leftBytes) {
    const [needed, left, limit] = [bytes, quota.leftBytes, quota.limitBytes].map((one) => formatBytes(one));
    return `It needs ${needed}, and ${left} of your ${limit} are left. Delete datasets or models that you no longer need`;
  }
  if (diskLeft !== null && bytes > diskLeft)
    return `It needs ${formatBytes(bytes)}, and the server's disk has ${formatBytes(diskLeft)} left`;
  return null;
}

export function sizeOf(files: readonly { sizeBytes: number }[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
