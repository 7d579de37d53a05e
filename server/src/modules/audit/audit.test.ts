import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as accounts from '@bakehouse/contract/accounts';
import * as apiKeys from '@bakehouse/contract/api-keys';
import * as assets from '@bakehouse/contract/assets';
import { listAudit } from '@bakehouse/contract/audit';
import * as bagelml from '@bakehouse/contract/bagelml';
import * as codes from '@bakehouse/contract/codes';
import * as credits from '@bakehouse/contract/credits';
import * as imageDeployments from '@bakehouse/contract/deployments/images';
import * as deployments from '@bakehouse/contract/deployments/text';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import * as prices from '@bakehouse/contract/prices';
import * as privacy from '@bakehouse/contract/privacy';
import * as profile from '@bakehouse/contract/profile';
import * as restrictedModels from '@bakehouse/contract/restricted-models';
import * as runContract from '@bakehouse/contract/runs';
import { expect, test } from 'vitest';
import { contractEndpoints } from '../../testing/access/contract-endpoints.ts';
import { testServer } from '../../testing/test-server.ts';
import { insertFlux, insertParis } from '../deployments/testing/test-models.ts';
import { emptyGguf, emptySafetensors, goodData } from '../fine-tuning/testing/test-run.ts';
import { auditedElsewhere, notAudited } from './testing/not-audited.ts';
import { signUpPeople } from './testing/sign-up-people.ts';

/*
 * Every call of the contract that may change something adds a row to the audit log. This test fails for a new
 * call until it is added below, or to `testing/not-audited.ts` with a reason.
 */

const server = await testServer({ readData: async () => goodData });
const { request, services } = server;

const { olga, ada, bob } = await signUpPeople(server);

const idempotencyKey = () => randomUUID();

async function upload(id: string, name: string, bytes: Buffer | string): Promise<void> {
  const body = new FormData();
  body.set('data_file', new Blob([new Uint8Array(Buffer.from(bytes))]), name);
  const headers = { 'x-api-key': ada.apiKey };
  const answer = await fetch(`${server.url}/api/v1/asset/${id}/upload`, { method: 'POST', headers, body });
  expect(answer.status, await answer.text()).toBe(200);
}

const makeAsset = (dataset_type: 'RAW' | 'MODEL' = 'RAW') =>
  request(assets.createAsset, { body: { dataset_type, title: 'thing', user_id: ada.userId } }, { as: ada });

async function makeDataset(): Promise<string> {
  const id = await makeAsset();
  await upload(id, 'rows.csv', 'question,answer\na,b\n');
  return id;
}

async function makeModel(): Promise<string> {
  const id = await makeAsset('MODEL');
  for (const [name, bytes] of [
    ['config.json', '{}'],
    ['model.safetensors', emptySafetensors()],
    ['model.gguf', emptyGguf()],
  ] as const)
    await upload(id, name, bytes);
  return id;
}

async function startRun(): Promise<string> {
  const fine_tune_payload = {
    ...{
      asset_id: await makeDataset(),
      base_model: await makeModel(),
      model_name: 'tuned',
      file_name: 'rows.csv',
    },
    ...{ user_id: ada.userId, input_column: 'question', output_column: 'answer' },
  };
  const body = { dataset_type: 'MODEL', title: 'tuned', user_id: ada.userId, fine_tune_payload } as const;
  await request(assets.createAsset, { body }, { as: ada, idempotencyKey: idempotencyKey() });
  const { runs } = await request(runContract.listRuns, { query: {} }, { as: ada });
  return runs[0]?.run_id ?? '';
}

async function cancelledRun(): Promise<string> {
  const runId = await startRun();
  await request(runContract.cancelRun, { params: { runId } }, { as: ada });
  await server.app.engine.pass();
  return runId;
}

const deploy = async () =>
  request(
    deployments.deployVllm,
    { body: { model_id: await makeModel(), user_id: ada.userId } },
    { as: ada, idempotencyKey: idempotencyKey() },
  );

const makeKey = async () => {
  const call = { params: { userId: ada.userId }, body: { name: 'program' } };
  return (await request(apiKeys.createApiKey, call, { as: ada })).api_key.id;
};

const grant = (recipient_id = ada.userId) =>
  request(
    credits.grantCredits,
    { body: { recipient_id, amount: '100' } },
    { as: olga, idempotencyKey: idempotencyKey() },
  );

const restricted = { params: { modelId: 'bakehouse/crumb-70b' } };
const saveRestricted = () =>
  request(restrictedModels.saveRestrictedModel, { ...restricted, body: { name: 'Crumb 70B' } }, { as: olga });

async function askForAccess(): Promise<void> {
  await saveRestricted();
  await request(
    restrictedModels.requestAccess,
    { ...restricted, body: { message: 'To bake with it' } },
    { as: ada },
  );
}

/** Signs Ada in in another browser; resolves to its cookie. */
async function signIn(): Promise<string> {
  const answer = await fetch(`${server.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify({ email: ada.email, password: 'correct horse battery staple' }),
  });
  return answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

const makeCode = async () => {
  const call = { body: { amount: '50' } };
  const { codes: made } = await request(codes.createCodes, call, {
    as: olga,
    idempotencyKey: idempotencyKey(),
  });
  return made[0] ?? '';
};

async function deleteAccount(): Promise<void> {
  const { cookie } = await server.signUp('Dora');
  const body = { password: 'correct horse battery staple' };
  await request(privacy.deleteAccount, { body }, { headers: { cookie } });
}

/** Deploys an image model and terminates it immediately, because the machine has room for few. */
function imageCalls(
  deployPod: typeof imageDeployments.imageCalls.flux.deploy,
  end: typeof imageDeployments.imageCalls.flux.terminate,
  insert: typeof insertFlux = insertFlux,
): typeof calls {
  const make = async () => {
    const { userId: user_id } = bob;
    const { assetId: model_id } = await insert(services, bob, 'Painter');
    const call = { body: { model_id, user_id } };
    const { pod_id: podId } = await request(deployPod, call, { as: bob, idempotencyKey: idempotencyKey() });
    await request(end, { params: { podId }, query: { user_id } }, { as: bob });
  };
  return [
    [deployPod, 'deployment.created', make],
    [end, 'deployment.ended', make],
  ];
}

/** Each call, with the action that it adds to the log. */
const calls: [endpoint: unknown, action: string, make: () => Promise<unknown>][] = [
  [assets.createAsset, 'asset.created', () => makeAsset()],
  [assets.createAsset, 'run.started', startRun],
  [assets.uploadFile, 'asset.file_uploaded', makeDataset],
  [
    assets.updateAsset,
    'asset.changed',
    async () =>
      request(
        assets.updateAsset,
        { params: { id: await makeAsset() }, body: { title: 'other' } },
        { as: ada },
      ),
  ],
  [
    assets.deleteFile,
    'asset.file_deleted',
    async () =>
      request(
        assets.deleteFile,
        { params: { id: await makeDataset() }, body: { file_path: 'rows.csv' } },
        { as: ada },
      ),
  ],
  [
    assets.deleteAsset,
    'asset.deleted',
    async () => request(assets.deleteAsset, { params: { id: await makeAsset() } }, { as: ada }),
  ],
  [runContract.cancelRun, 'run.cancelled', cancelledRun],
  [
    runContract.resumeRun,
    'run.resumed',
    async () =>
      request(
        runContract.resumeRun,
        { params: { runId: await cancelledRun() }, body: {} },
        { as: ada, idempotencyKey: idempotencyKey() },
      ),
  ],
  [deployments.deployVllm, 'deployment.created', deploy],
  [
    deployments.terminatePod,
    'deployment.ended',
    async () => {
      const { pod_id: podId } = await deploy();
      return request(
        deployments.terminatePod,
        { params: { podId }, query: { user_id: ada.userId } },
        { as: ada },
      );
    },
  ],
  ...imageCalls(imageDeployments.imageCalls.flux.deploy, imageDeployments.imageCalls.flux.terminate),
  ...imageCalls(
    imageDeployments.imageCalls['flux-kontext'].deploy,
    imageDeployments.imageCalls['flux-kontext'].terminate,
  ),
  ...imageCalls(
    imageDeployments.imageCalls.paris.deploy,
    imageDeployments.imageCalls.paris.terminate,
    insertParis,
  ),
  [apiKeys.createApiKey, 'api_key.created', makeKey],
  [
    bagelml.createClientKey,
    'api_key.created',
    () =>
      request(
        bagelml.createClientKey,
        { body: { name: 'client', api_key: ada.apiKey, userId: ada.userId } },
        {},
      ),
  ],
  [
    apiKeys.changeApiKey,
    'api_key.changed',
    async () =>
      request(apiKeys.changeApiKey, { params: { keyId: await makeKey() }, body: { name: 'n' } }, { as: ada }),
  ],
  [
    apiKeys.revokeApiKey,
    'api_key.revoked',
    async () => request(apiKeys.revokeApiKey, { params: { keyId: await makeKey() } }, { as: ada }),
  ],
  [
    apiKeys.rotateApiKeyById,
    'api_key.rotated',
    async () =>
      request(apiKeys.rotateApiKeyById, { params: { keyId: await makeKey() }, body: {} }, { as: ada }),
  ],
  [
    accounts.rotateApiKey,
    'api_key.rotated',
    async () => {
      ada.apiKey = (await request(accounts.rotateApiKey, {}, { as: ada })).data;
    },
  ],
  [codes.createCodes, 'codes.created', makeCode],
  [
    codes.redeemCode,
    'code.redeemed',
    async () => {
      const body = { user_id: ada.userId, code: await makeCode() };
      return request(codes.redeemCode, { body }, { as: ada, idempotencyKey: idempotencyKey() });
    },
  ],
  [
    codes.revokeCode,
    'code.revoked',
    async () => {
      await makeCode();
      const { codes: listed } = await request(codes.listCodes, { query: {} }, { as: olga });
      return request(codes.revokeCode, { params: { codeId: listed[0]?.id ?? '' } }, { as: olga });
    },
  ],
  [privacy.deleteAccount, 'user.deleted', deleteAccount],
  [credits.grantCredits, 'credits.granted', () => grant()],
  [
    prices.changePrice,
    'price.changed',
    () => request(prices.changePrice, { body: { price_id: 'training:CPU', unit_price: '3' } }, { as: olga }),
  ],
  [
    credits.chargeBackPayment,
    'credits.charged_back',
    () =>
      request(
        credits.chargeBackPayment,
        { body: { payer_id: bob.userId, amount: '1' } },
        { as: olga, idempotencyKey: idempotencyKey() },
      ),
  ],
  [
    credits.transferTokens,
    'credits.sent',
    async () => {
      await grant();
      return request(
        credits.transferTokens,
        { body: { user_id: ada.userId, recipient_id: bob.userId, amount: '2' } },
        { as: ada, idempotencyKey: idempotencyKey() },
      );
    },
  ],
  [restrictedModels.saveRestrictedModel, 'restricted_model.saved', saveRestricted],
  [restrictedModels.requestAccess, 'access.requested', askForAccess],
  [
    restrictedModels.decideAccessRequest,
    'access.granted',
    async () => {
      const { requests } = await request(restrictedModels.listAccessRequests, { query: {} }, { as: olga });
      const params = { requestId: requests[0]?.request_id ?? '' };
      const body = { decision: 'granted' } as const;
      return request(restrictedModels.decideAccessRequest, { params, body }, { as: olga });
    },
  ],
  [
    restrictedModels.deleteRestrictedModel,
    'restricted_model.deleted',
    () => request(restrictedModels.deleteRestrictedModel, restricted, { as: olga }),
  ],
  [
    profile.endSession,
    'session.ended',
    async () => {
      const headers = { cookie: await signIn() };
      const { sessions } = await request(profile.listSessions, {}, { headers });
      const other = sessions.find((session) => !session.is_current);
      return request(profile.endSession, { params: { sessionId: other?.id ?? '' } }, { headers });
    },
  ],
  [
    profile.endOtherSessions,
    'session.others_ended',
    async () => request(profile.endOtherSessions, {}, { headers: { cookie: await signIn() } }),
  ],
];

const audit = (query: Parameters<typeof request<typeof listAudit>>[1]['query'] = {}) =>
  request(listAudit, { query }, { as: olga });
const newest = async (action: string) =>
  (await audit({ limit: 200 })).entries.find((entry) => entry.action === action)?.entry_id;

test('every call that may change something is tested here, or listed with a reason for not being audited', async () => {
  const called = calls.map(([endpoint]) => endpoint);
  const known = new Set<unknown>([...called, ...notAudited.keys(), ...auditedElsewhere.keys()]);
  const changing = (await contractEndpoints()).filter(
    ({ method, access }) => method !== 'GET' && method !== 'HEAD' && access !== 'workload',
  );
  const unknown = changing.filter((endpoint) => !known.has(endpoint));
  expect(unknown.map(({ method, path: target }) => `${method} ${target}`)).toEqual([]);
});

test.each([...auditedElsewhere.values()])('$test contains $action', async ({ action, test: file }) => {
  const text = await readFile(path.join(import.meta.dirname, '../..', file), 'utf8');
  expect(text).toContain(`'${action}'`);
});

test.each(calls.map(([endpoint, action, make]) => [(endpoint as Endpoint).path, action, make] as const))(
  '%s is recorded as %s',
  async (_path, action, make) => {
    const before = await newest(action);
    await make();
    expect(await newest(action)).not.toBe(before);
  },
);

test('no row contains a secret', async () => {
  const text = JSON.stringify(await audit({ limit: 200 }));
  expect(text).not.toContain(ada.apiKey);
  expect(text).not.toMatch(/bk_[0-9A-Za-z]{20}/);
});
