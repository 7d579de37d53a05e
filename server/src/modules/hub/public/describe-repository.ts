import { text } from 'node:stream/consumers';
import type { InputOf } from '@bakehouse/contract/endpoint';
import {
  type getHubRepository as getHubRepositoryEndpoint,
  HUB_FILES_SHOWN_MAX,
  type HubRepositoryDetails,
  type RepoType,
} from '@bakehouse/contract/hub/public';
import { formatBytes } from '@bakehouse/contract/labels';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Quota, readQuota } from '../../assets/files/storage-quota.ts';
import { MODEL_CONFIG, readFamily } from '../../assets/recognise/family.ts';
import { PIPELINE_INDEX } from '../../assets/recognise/pipelines.ts';
import { findClonedAsset } from '../../assets/sources/sources.ts';
import type { PredictPlacement, RemoteModel } from '../../models/remote-model.ts';
import { weightsExtension } from '../../models/weights/check-model-file.ts';
import {
  FILES_MAX,
  type HubClient,
  hubClient,
  hubResponseError,
  nameOf,
  type Repo,
  type RepoFile,
  type RepoInfo,
} from './hub-client.ts';
import { requestHub, unreachable } from './request-hub.ts';
import { findHubAccess } from './tokens.ts';

/** Loading these formats can execute code, so no part of the system accepts them. */
const isPickle = ({ path }: Named) => {
  const extension = weightsExtension(path);
  return extension !== null && extension !== 'safetensors' && extension !== 'gguf';
};

const isSafe = ({ path }: Named) => /\.(safetensors|gguf)$/i.test(path);

/** A configuration is small, but a repository may contain anything under its name. */
const BYTES_MAX = 512 * 1024;

const object = z.record(z.string(), z.unknown());

/**
 * Predict on which device a hub model could be deployed and trained. The serving and training modules supply
 * them.
 */
export type PredictionUses = { deploy: PredictPlacement; train: PredictPlacement };

type Query = InputOf<typeof getHubRepositoryEndpoint>['query'];

/**
 * Returns what a clone of a repository would contain, and `obstacle` if it cannot be cloned. Throws AppError
 * 'not_found' and 'unavailable'.
 */
export async function describeRepository(
  ctx: Context,
  { repo_id, repo_type: type, include_file_info: includesFiles }: Query,
  { foresee, signal }: { foresee: PredictionUses; signal: AbortSignal },
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
    obstacle: locked ?? fault ?? findSpaceObstacle(bytes, quota, diskLeft),
    cloned_asset_id: await findClonedAsset(ctx.db, { userId, repoId: repo.id, type }),
  };
}

/** Returns why the user cannot read a gated repository; null if the user can. */
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
  foresee: PredictionUses;
  /** Why the user cannot read any file; null if the user can. */
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

export function findSpaceObstacle(bytes: number, quota: Quota, diskLeft: number | null): string | null {
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

/**
 * Parses a small JSON file of a repository. Null if the file does not exist. Throws the errors of
 * `requestHub` and `hubResponseError`.
 */
async function readRemoteJson(
  { access }: HubClient,
  {
    repo,
    revision,
    file,
    signal,
  }: { repo: Repo; revision: string; file: RepoFile | undefined; signal: AbortSignal },
): Promise<Record<string, unknown> | null> {
  if (!file || file.sizeBytes > BYTES_MAX) return null;
  const answer = await requestHub(access, fileUrl(access.url, repo, revision, file.path), { signal });
  const { statusCode = 0, headers } = answer;
  if (statusCode !== 200 || Number(headers['content-length'] ?? 0) > BYTES_MAX) {
    answer.destroy();
    throw hubResponseError({ statusCode, headers }, { what: nameOf(repo), token: access.token });
  }
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > BYTES_MAX) answer.destroy(new SyntaxError('too long'));
  });
  try {
    return object.safeParse(JSON.parse(await text(answer))).data ?? null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    signal.throwIfAborted();
    throw unreachable(error);
  }
}

type Named = { path: string };

/**
 * Selects the files of a repository to copy. Pickles are skipped if the same weights exist in a safe format.
 * If all weights are pickles, `fault` is set.
 */
export function chooseFiles<File extends Named>(
  type: RepoType,
  files: readonly File[],
): { copied: File[]; leftOut: File[]; fault: string | null } {
  const pickles = type === 'model' ? files.filter(isPickle) : [];
  if (pickles.length === 0) return { copied: [...files], leftOut: [], fault: null };
  if (files.some(isSafe)) {
    const left = new Set(pickles);
    return { copied: files.filter((file) => !left.has(file)), leftOut: pickles, fault: null };
  }
  return {
    copied: [],
    leftOut: pickles,
    fault:
      'Its weights are only Python pickles, which can run code when loaded. Choose a repository with ' +
      'safetensors or GGUF',
  };
}

/** Returns the family of a model from its pipeline index or configuration; empty if neither names it. */
export async function familyOf(readJson: RemoteModel['readJson']): Promise<string> {
  const [index, config] = await Promise.all([readJson(PIPELINE_INDEX), readJson(MODEL_CONFIG)]);
  return readFamily(index) ?? readFamily(config) ?? '';
}

/** Returns the URL of a file of a commit; the hub may redirect. */
export function fileUrl(hubUrl: string, { type, id }: Repo, revision: string, path: string): URL {
  const prefix = type === 'dataset' ? 'datasets/' : '';
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return new URL(`${hubUrl}/${prefix}${id}/resolve/${revision}/${encoded}`);
}
