import { type AssetFile, FILES_SHOWN_MAX } from '@bakehouse/contract/assets';
import type { createClientKey as createClientKeyEndpoint } from '@bakehouse/contract/bagelml';
import * as contract from '@bakehouse/contract/bagelml';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { createApiKey } from '../../modules/accounts/keys/api-keys.ts';
import { getMe } from '../../modules/accounts/users.ts';
import { downloadFile } from '../../modules/assets/files/download-file.ts';
import { getInfo } from '../../modules/assets/files/files.ts';
import type { Caller, Context, UserCaller } from '../../platform/context.ts';
import {
  forbidden,
  invalidApiKey,
  notFoundError,
  ownedByAnother,
  unauthenticated,
} from '../../platform/errors.ts';
import type { Answer } from '../../platform/http/answer.ts';

import { type Binding, bind, bindPublic, type Http } from '../../platform/http/bind.ts';
import { answerZip } from '../../platform/storage/answer-blob.ts';
import { getJob, getJobOfModel, listColumnNames, listJobs } from './jobs.ts';

const VERSION = '1';
const KEYS_PER_MINUTE = 10;
const FILES_MAX = 1000;

type ModelFile = InputOf<typeof contract.downloadModelFile>['params'];

/** Calls that exist only for the original product's public clients. */
export function bagelmlRoutes(parts: {
  authenticate: (key: string) => Promise<UserCaller | null>;
}): Binding[] {
  const download = (ctx: Context, { modelId: id, '*': path }: ModelFile, { request }: Http) =>
    downloadFile(ctx, { params: { id, '*': path }, query: { revision_id: undefined } }, request);
  return [
    bindPublic(contract.ping, async ({ clock }) => ({ 'nanosecond heartbeat': clock.now().getTime() * 1e6 })),
    bindPublic(contract.getVersion, async () => VERSION),
    bind(contract.getUser, (ctx) => getMe(ctx)),
    bindPublic(
      contract.createClientKey,
      (ctx, input, { request }) => createClientKey(ctx, input, { request, authenticate: parts.authenticate }),
      { callsPerMinute: KEYS_PER_MINUTE },
    ),
    bind(contract.listColumnNames, (ctx, { params }) =>
      listColumnNames(ctx, { assetId: params.id, path: params.fileName }),
    ),
    bind(contract.listJobs, (ctx) => listJobs(ctx)),
    bind(contract.getJob, (ctx, { params }) => getJob(ctx, params)),
    bind(contract.getJobOfModel, (ctx, { params }) => getJobOfModel(ctx, params)),
    bind(contract.listModelFiles, async (ctx, { params }) => {
      const info = { assetId: params.modelId, path: '', limit: FILES_MAX, cursor: undefined };
      return (await getInfo(ctx, info)).files;
    }),
    bind(contract.downloadModelFile, (ctx, { params }, http) => download(ctx, params, http)),
    bind(contract.downloadModelFilePrefixedTwice, (ctx, { params }, http) => download(ctx, params, http)),
    bind(contract.downloadFileOfJob, async (ctx, { params }, http) => {
      const { asset_id: modelId } = await getJob(ctx, params);
      return download(ctx, { modelId, '*': params['*'] }, http);
    }),
    bind(contract.downloadModel, (ctx, { params }) => downloadModel(ctx, params)),
  ];
}

/**
 * Creates another API key. The caller must send the web app's key in the header, or in the body as the npm
 * client does. Throws AppError 'unauthenticated' without a key, and 'forbidden' for a key that may not manage
 * keys or for another user.
 */
async function createClientKey(
  ctx: Context<Caller>,
  { body }: Pick<InputOf<typeof createClientKeyEndpoint>, 'body'>,
  {
    request,
    authenticate,
  }: Pick<Http, 'request'> & { authenticate: (key: string) => Promise<UserCaller | null> },
): Promise<ResponseOf<typeof createClientKeyEndpoint>> {
  const header = request.headers['x-api-key'];
  const key = typeof header === 'string' ? header : body.api_key;
  if (key === '')
    throw unauthenticated('API key not found. Send the key of the web app as api_key', { param: 'api_key' });
  const caller = await authenticate(key);
  if (!caller) throw invalidApiKey();
  if (caller.userId !== body.userId) throw ownedByAnother('userId');
  if (!caller.key?.forWebApp)
    throw forbidden('This API key cannot manage API keys. Use the key of the web app');
  const made = await createApiKey({ ...ctx, caller }, { body: { name: body.name, scopes: ['everything'] } });
  return { ...made, data: made.secret };
}

/** Returns all files of the newest revision as a zip. Throws AppError 'not_found' if there are no files yet. */
async function downloadModel(ctx: Context, { modelId }: { modelId: string }): Promise<Answer> {
  const files = await listAllFiles(ctx, modelId);
  if (files.length === 0) throw notFoundError('This model has no files yet');
  return answerZip(ctx, {
    files: files.map(({ path, sha256, size_bytes: sizeBytes, uploaded_at }) => ({
      ...{ path, sha256, sizeBytes },
      modifiedAt: new Date(uploaded_at),
    })),
    headers: { 'content-disposition': `attachment; filename="${modelId}.zip"` },
  });
}

async function listAllFiles(ctx: Context, assetId: string): Promise<AssetFile[]> {
  const files: AssetFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await getInfo(ctx, { assetId, path: '', limit: FILES_SHOWN_MAX, cursor });
    files.push(...page.files);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return files;
}
