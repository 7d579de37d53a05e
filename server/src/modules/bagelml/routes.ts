import * as contract from '@bakehouse/contract/bagelml';
import type { UserCaller } from '../../platform/context.ts';
import { type Binding, bind, bindPublic } from '../../platform/http/bind.ts';
import { getMe } from '../accounts/get-me.ts';
import { downloadFile } from '../assets/files/download-file.ts';
import { getInfo } from '../assets/files/get-info.ts';
import { createClientKey } from './create-client-key.ts';
import { downloadModel } from './download-model.ts';
import { getJob } from './get-job.ts';
import { getJobOfModel } from './get-job-of-model.ts';
import { listColumnNames } from './list-column-names.ts';
import { listJobs } from './list-jobs.ts';

const VERSION = '1';
const KEYS_PER_MINUTE = 10;
const FILES_MAX = 1000;

/** Calls that only the original product's public clients use. */
export function bagelmlRoutes(parts: {
  authenticate: (key: string) => Promise<UserCaller | null>;
}): Binding[] {
  const download: Parameters<typeof bind<typeof contract.downloadModelFile>>[1] = (ctx, { params }, http) =>
    downloadFile(
      ctx,
      { params: { id: params.modelId, '*': params['*'] }, query: { revision_id: undefined } },
      http,
    );
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
    bind(contract.downloadModelFile, download),
    bind(contract.downloadModelFilePrefixedTwice, download),
    bind(contract.downloadFileOfJob, async (ctx, { params }, http) => {
      const { asset_id: modelId } = await getJob(ctx, params);
      return download(
        ctx,
        { params: { modelId, '*': params['*'] }, query: undefined, body: undefined },
        http,
      );
    }),
    bind(contract.downloadModel, (ctx, { params }, http) => downloadModel(ctx, params, http)),
  ];
}
