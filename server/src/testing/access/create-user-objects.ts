import { createApiKey } from '@bakehouse/contract/api-keys';
import { createUpload } from '@bakehouse/contract/asset-uploads';
import { createAsset, updateAsset } from '@bakehouse/contract/assets';
import { saveConfiguration } from '@bakehouse/contract/configurations';
import { imageCalls } from '@bakehouse/contract/deployments/images';
import { deployVllm, vllmStatus } from '@bakehouse/contract/deployments/text';
import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import { whoAmI } from '@bakehouse/contract/hub/repositories';
import { VIDEO_PREFIX } from '@bakehouse/contract/openai-videos';
import { listRuns } from '@bakehouse/contract/runs';
import { expect } from 'vitest';
import { insertFlux } from '../../modules/deployments/testing/test-models.ts';
import { emptySafetensors } from '../../modules/fine-tuning/testing/test-run.ts';
import { runIpfsWork } from '../../modules/ipfs/testing/run-ipfs-work.ts';
import type { TestServer, TestUser } from '../test-server.ts';
import { form } from './call-inputs.ts';
import { insertBatch, insertPicture, insertRows } from './insert-rows.ts';

type Parts = { server: TestServer; ada: TestUser };

/** Adds a file to an asset of Ada. */
async function addFile(
  { server, ada }: Parts,
  id: string,
  name: string,
  bytes: Buffer,
  path?: string,
): Promise<void> {
  const answer = await fetch(`${server.url}/api/v1/asset/${id}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': ada.apiKey },
    body: form(name, bytes, path),
  });
  expect(answer.status, await answer.text()).toBe(200);
}

/** Creates an asset of Ada with these files. */
async function makeAsset(
  parts: Parts,
  dataset_type: 'RAW' | 'MODEL',
  title: string,
  files: Record<string, Buffer>,
): Promise<string> {
  const { server, ada } = parts;
  const body = { dataset_type, title, user_id: ada.userId };
  const id = await server.request(createAsset, { body }, { as: ada });
  for (const [name, bytes] of Object.entries(files)) await addFile(parts, id, name, bytes);
  return id;
}

/** The dataset `rows` under the name that the hub's clients use, with a folder. */
async function nameRepository(parts: Parts, id: string): Promise<Record<string, string>> {
  const { server, ada } = parts;
  await addFile(parts, id, 'rows.csv', Buffer.from('question\na\n'), 'folder/rows.csv');
  const { name: namespace } = await server.request(whoAmI, {}, { as: ada });
  return { type: 'datasets', namespace, name: 'rows', revision: 'main', branch: 'main' };
}

/** Returns path parameters of OpenAI's calls. */
async function nameForOpenAi(
  parts: Parts,
  { runId, videoId }: { runId: string; videoId: string },
): Promise<Record<string, string>> {
  const file = await makeAsset(parts, 'RAW', 'chats', { 'chats.jsonl': Buffer.from('{}\n') });
  return {
    batch_id: toFlatId('batch_', await insertBatch(parts.server, parts.ada)),
    file_id: toFlatId('file-', file),
    fine_tuning_job_id: toFlatId('ftjob-', runId),
    video_id: toFlatId(VIDEO_PREFIX, videoId),
  };
}

/** Creates one object of each kind for Ada. The keys are the names of the objects in the contract's paths. */
export async function makeThings(parts: Parts): Promise<Record<string, string>> {
  const { server, ada } = parts;
  const as = ada;
  const id = await makeAsset(parts, 'RAW', 'rows', { 'rows.csv': Buffer.from('question,answer\na,b\n') });
  const repository = await nameRepository(parts, id);
  const base = await makeAsset(parts, 'MODEL', 'base', {
    'config.json': Buffer.from('{}'),
    'model.safetensors': emptySafetensors(),
    'model.gguf': emptyGguf(),
  });
  const fine_tune_payload = {
    asset_id: id,
    base_model: base,
    model_name: 'tuned',
    file_name: 'rows.csv',
    user_id: as.userId,
    input_column: 'question',
    output_column: 'answer',
  };
  const body = { dataset_type: 'MODEL', title: 'tuned', user_id: as.userId, fine_tune_payload } as const;
  await server.request(createAsset, { body }, { as });
  const { runs } = await server.request(listRuns, { query: {} }, { as });
  await addFile(parts, runs[0]?.model_id ?? '', 'rows.csv', Buffer.from('question,answer\na,b\n'));
  const configuration = { config_name: 'mine', fine_tune_payload: {} };
  const saved = await server.request(saveConfiguration, { body: configuration }, { as });
  const { pod_id: podId } = await server.request(
    deployVllm,
    { body: { model_id: base, user_id: as.userId } },
    { as },
  );
  const { assetId: flux } = await insertFlux(server.services, ada, 'Flux');
  const { pod_id: imagePodId } = await server.request(
    imageCalls.flux.deploy,
    { body: { model_id: flux, user_id: as.userId } },
    { as },
  );
  const { model_name: model } = await server.request(vllmStatus, { params: { podId } }, { as });
  const { api_key } = await server.request(
    createApiKey,
    { params: { userId: as.userId }, body: { name: 'program' } },
    { as },
  );
  const upload = { params: { id }, body: { path: 'more.csv', size_bytes: 1 } };
  const { upload_id: uploadId } = await server.request(createUpload, upload, { as });
  await server.request(updateAsset, { params: { id }, body: { use_ipfs: true } }, { as });
  await runIpfsWork(server.services);
  const generated = await insertPicture(server, ada, id);
  return {
    ...(await insertRows(server, ada, id)),
    uploadId,
    ...{ number: '1', step: '1' },
    // The token of a visitor's image, which belongs to no user.
    token: 'made-up',
    ...(await nameForOpenAi(parts, { runId: runs[0]?.run_id ?? '', videoId: generated.videoId })),
    username: 'somebody',
    ...generated,
    keyId: api_key.id,
    id,
    ...repository,
    '*': 'rows.csv',
    fileName: 'rows.csv',
    runId: runs[0]?.run_id ?? '',
    jobId: runs[0]?.run_id ?? '',
    modelId: runs[0]?.model_id ?? '',
    configId: saved.config_id,
    podId,
    imagePodId,
    model,
  };
}

/** An empty GGUF file: magic, version 3, no tensors, no values. */
function emptyGguf(): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.write('GGUF');
  bytes.writeUInt32LE(3, 4);
  return bytes;
}
