import { randomUUID } from 'node:crypto';
import * as accounts from '@bakehouse/contract/accounts';
import * as apiKeys from '@bakehouse/contract/api-keys';
import * as assets from '@bakehouse/contract/assets';
import { listAudit } from '@bakehouse/contract/audit';
import * as credits from '@bakehouse/contract/credits';
import * as deployments from '@bakehouse/contract/deployments';
import type { Endpoint } from '@bakehouse/contract/endpoint';
import * as prices from '@bakehouse/contract/prices';
import * as profile from '@bakehouse/contract/profile';
import * as restrictedModels from '@bakehouse/contract/restricted-models';
import * as training from '@bakehouse/contract/training';
import { beforeAll, describe, expect, test } from 'vitest';
import { signUpOperator } from '../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { emptyGguf, emptySafetensors, goodData } from '../training/test-run.ts';

/*
 * Every call of these nouns that may change something leaves a row in the audit log. A new one fails until it is
 * called below, or named among those that change nothing which is audited.
 */
const nouns = {
  accounts,
  apiKeys,
  assets,
  credits,
  deployments,
  prices,
  profile,
  restrictedModels,
  training,
};

const notAudited = new Map<unknown, string>([
  [accounts.changeOnboarding, 'a preference'],
  [training.validateFineTune, 'changes nothing'],
  [training.cancelReading, 'a reading is not kept'],
  [deployments.quoteVllm, 'changes nothing'],
]);

const server = await testServer({ readData: async () => goodData });
const { request, services } = server;

let olga: TestUser;
let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  olga = await signUpOperator(server, 'Olga');
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

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
  const { runs } = await request(training.listRuns, { query: {} }, { as: ada });
  return runs[0]?.run_id ?? '';
}

async function cancelledRun(): Promise<string> {
  const runId = await startRun();
  await request(training.cancelRun, { params: { runId } }, { as: ada });
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

/** Signs Ada in in one more browser; resolves to its cookie. */
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

/** Each call, and what the log says of it. */
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
  [training.cancelRun, 'run.cancelled', cancelledRun],
  [
    training.resumeRun,
    'run.resumed',
    async () =>
      request(
        training.resumeRun,
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
  [apiKeys.createApiKey, 'api_key.created', makeKey],
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

test('every call that may change something is called below, or has a reason not to be', () => {
  const changing = Object.values(nouns)
    .flatMap((module) => Object.entries(module) as [string, unknown][])
    .filter(([, value]) => isChanging(value));
  const known = new Set([...calls.map(([endpoint]) => endpoint), ...notAudited.keys()]);
  expect(changing.filter(([, endpoint]) => !known.has(endpoint)).map(([name]) => name)).toEqual([]);
});

function isChanging(value: unknown): value is Endpoint {
  if (typeof value !== 'object' || value === null || !('access' in value) || !('method' in value))
    return false;
  return value.method !== 'GET' && value.method !== 'HEAD' && value.access !== 'workload';
}

test.each(calls.map(([endpoint, action, make]) => [(endpoint as Endpoint).path, action, make] as const))(
  '%s is recorded as %s',
  async (_path, action, make) => {
    const before = await newest(action);
    await make();
    expect(await newest(action)).not.toBe(before);
  },
);

describe('the list', () => {
  test('goes on behind a page in which the ledger has nothing', async () => {
    await makeAsset();
    const { next_cursor } = await audit({ limit: 1 });
    expect((await audit({ limit: 1, cursor: next_cursor ?? undefined })).entries).toHaveLength(1);
  });

  test('says who did what, by pages without a gap or a repetition, the ledger in between', async () => {
    const whole = (await audit({ limit: 200 })).entries;
    expect(whole.length).toBeGreaterThan(20);
    expect(whole.map(({ at }) => at)).toEqual(
      whole
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    expect(new Set(whole.map(({ entry_id }) => entry_id)).size).toBe(whole.length);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await audit({ limit: 7, cursor });
      paged.push(...page.entries.map(({ entry_id }) => entry_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && paged.length < 200);
    expect(paged).toEqual(whole.slice(0, paged.length).map(({ entry_id }) => entry_id));
    const sent = whole.find(({ action }) => action === 'credits.sent');
    expect(sent).toMatchObject({
      user_id: ada.userId,
      username: expect.stringMatching(/^ada/),
      detail: { recipient_id: bob.userId, amount: '2' },
    });
  });

  test('is filtered by who did it, however they are named, and by the noun', async () => {
    for (const user of [olga.email, olga.userId]) {
      const { entries } = await audit({ user, limit: 200 });
      expect(new Set(entries.map((entry) => entry.user_id))).toEqual(new Set([olga.userId]));
    }
    const { entries } = await audit({ noun: 'credits', user: ada.userId });
    expect(new Set(entries.map(({ action }) => action))).toEqual(new Set(['credits.sent']));
    expect(await audit({ user: 'nobody' })).toEqual({ entries: [], next_cursor: null });
  });

  test('is filtered by the id of a deleted account', async () => {
    const dora = await server.signUp('Dora');
    await services.db.insertInto('audit_log').values({ action: 'oven.lit', user_id: dora.userId }).execute();
    await services.db
      .updateTable('users')
      .set({ deleted_at: new Date() })
      .where('id', '=', dora.userId)
      .execute();
    const { entries } = await audit({ user: dora.userId, noun: 'oven' });
    expect(entries).toEqual([
      expect.objectContaining({ action: 'oven.lit', user_id: dora.userId, username: null }),
    ]);
  });

  test('has every entry on some page, also where a transaction that began first wrote last', async () => {
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
    for (const [action, second] of [['door.opened', 2] as const, ['door.closed', 1] as const])
      await services.db
        .insertInto('audit_log')
        .values({ action, at: at(second) })
        .execute();
    const first = await audit({ noun: 'door', limit: 1 });
    const second = await audit({ noun: 'door', limit: 1, cursor: first.next_cursor ?? undefined });
    const actions = [...first.entries, ...second.entries].map(({ action }) => action);
    expect(actions.toSorted()).toEqual(['door.closed', 'door.opened']);
    expect(second.next_cursor).toBeNull();
  });

  test('has no secret in it', async () => {
    const text = JSON.stringify(await audit({ limit: 200 }));
    expect(text).not.toContain(ada.apiKey);
    expect(text).not.toMatch(/bk_[0-9A-Za-z]{20}/);
  });
});
