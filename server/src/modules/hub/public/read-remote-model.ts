import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { readQuota } from '../../assets/files/storage-quota.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import type { RemoteModel } from '../../models/remote-model.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { readModelJson } from '../../models/weights/model-files.ts';
import { chooseFiles, fileUrl, findSpaceObstacle, sizeOf } from './describe-repository.ts';
import {
  FILES_MAX,
  type HubClient,
  hubClient,
  hubResponseError,
  nameOf,
  type Repo,
  type RepoFile,
} from './hub-client.ts';
import { requestHub, unreachable } from './request-hub.ts';
import { findHubAccess } from './tokens.ts';

/** The tokenizer of a large vocabulary has about 40 MB. */
const FILE_BYTES_MAX = 100 * 1024 ** 2;

type ReadRemoteModel = {
  repoId: string;
  revision: string;
  /** All files that a clone would copy, which determine where the model can be used. */
  model: RemoteModel;
  /** The configuration and the tokenizer, which are already stored here. */
  files: AssetRevision['files'];
  /** Why the model cannot be cloned, without a full stop; null if it can. */
  obstacle: string | null;
};

/**
 * Reads a model's metadata and small files from the public hub without its weights. Throws AppError
 * 'not_found', 'conflict' for a gated model, and 'unavailable'.
 */
export async function readRemoteModel(
  ctx: Context,
  id: string,
  signal: AbortSignal,
): Promise<ReadRemoteModel> {
  const { userId } = ctx.caller;
  const hub = hubClient(await findHubAccess(ctx, userId), signal);
  const info = await hub.describe({ type: 'model', id });
  const repo: Repo = { type: 'model', id: info.repo_id };
  if (info.gated) await hub.requireAccess(repo);
  const { copied, fault } = chooseFiles('model', await hub.listFiles(repo, info.revision, FILES_MAX));
  const [quota, diskLeft] = await Promise.all([readQuota(ctx, userId), ctx.blobs.freeBytes()]);
  const small = listModelFiles(copied).filter(
    ({ path, sizeBytes }) => !path.endsWith('.safetensors') && sizeBytes <= FILE_BYTES_MAX,
  );
  const files = await Promise.all(
    small.map((file) => storeFile(ctx, hub, { repo, revision: info.revision, file, signal })),
  );
  return {
    repoId: repo.id,
    revision: info.revision,
    model: {
      title: repo.id.slice(repo.id.indexOf('/') + 1),
      files: copied,
      readJson: (path) => readModelJson(ctx, files, path),
    },
    files,
    obstacle: fault ?? findSpaceObstacle(sizeOf(copied), quota, diskLeft),
  };
}

async function storeFile(
  ctx: Context,
  { access }: HubClient,
  { repo, revision, file, signal }: { repo: Repo; revision: string; file: RepoFile; signal: AbortSignal },
): Promise<AssetRevision['files'][number]> {
  const answer = await requestHub(access, fileUrl(access.url, repo, revision, file.path), { signal });
  const { statusCode = 0, headers } = answer;
  if (statusCode !== 200) {
    answer.destroy();
    throw hubResponseError({ statusCode, headers }, { what: nameOf(repo), token: access.token });
  }
  const stored = await storeBlob(ctx, answer, {
    sizeBytesMax: file.sizeBytes,
    tooLargeMessage: `${file.path} of ${nameOf(repo)} is longer than the hub lists`,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error instanceof AppError ? error : unreachable(error);
  });
  if (stored.sizeBytes !== file.sizeBytes) throw unreachable(new Error('shorter than listed'));
  return { path: file.path, ...stored };
}
