import { createAsset, deleteAsset, deleteFile, getAsset } from '@bakehouse/contract/assets';
import { linkFile } from '@bakehouse/contract/file-links';
import { deleteAccount } from '@bakehouse/contract/privacy';
import * as restricted from '@bakehouse/contract/restricted-models';
import { beforeEach, expect, test } from 'vitest';
import { signUpOperator } from '../../../../testing/sign-up-operator.ts';
import { type TestUser, testServer } from '../../../../testing/test-server.ts';

const server = await testServer();
const NAME = 'rows.csv';

let ada: TestUser;
let id: string;
beforeEach(async () => {
  ada = await server.signUp('Ada');
  id = await make(ada, 'RAW');
});

async function make(as: TestUser, dataset_type: 'RAW' | 'MODEL'): Promise<string> {
  const body = { dataset_type, title: 'Recipes', user_id: as.userId };
  const made = await server.request(createAsset, { body }, { as });
  await upload(as, made, 'question,answer\na,b\n');
  return made;
}

async function upload(as: TestUser, asset: string, content: string): Promise<void> {
  const form = new FormData();
  form.append('data_file', new Blob([content]), NAME);
  await fetch(`${server.url}/api/v1/asset/${asset}/upload`, {
    method: 'POST',
    headers: { 'x-api-key': as.apiKey },
    body: form,
  });
}

const link = async (as: TestUser, asset = id, revision_id?: string) => {
  const query = { path: NAME, ...(revision_id && { revision_id }) };
  return (await server.request(linkFile, { params: { id: asset }, query }, { as })).url;
};
const open = async (url: string) => (await fetch(new URL(url, server.url))).status;

test.each([
  ['deleted', () => server.request(deleteFile, { params: { id }, body: { file_path: NAME } }, { as: ada })],
  ['replaced', () => upload(ada, id, 'question,answer\nc,d\n')],
])(
  'a link ends when its file is %s, except for a link to a revision that contains it',
  async (_how, change) => {
    const { revision_id: revision } = await server.request(getAsset, { params: { id } }, { as: ada });
    const [newest, kept] = [await link(ada), await link(ada, id, revision ?? '')];
    expect([await open(newest), await open(kept)]).toEqual([200, 200]);
    await change();
    expect([await open(newest), await open(kept)]).toEqual([404, 200]);
  },
);

test("a link ends with its file's asset, even if its owner has the same bytes elsewhere", async () => {
  const url = await link(ada);
  const copy = await link(ada, await make(ada, 'RAW'));
  await server.request(deleteAsset, { params: { id } }, { as: ada });
  expect([await open(url), await open(copy)]).toEqual([404, 200]);
});

test("a link ends with its creator's account", async () => {
  const url = await link(ada);
  const body = { password: 'correct horse battery staple' };
  await server.request(deleteAccount, { body }, { headers: { cookie: ada.cookie } });
  expect(await open(url)).toBe(404);
});

test('a link to a restricted model ends with the granted access', async () => {
  const olga = await signUpOperator(server, 'Olga');
  const asset = await make(olga, 'MODEL');
  const params = { modelId: 'meta/crumb-70b' };
  const model = { name: 'Crumb 70B', asset_id: asset };
  await server.request(restricted.saveRestrictedModel, { params, body: model }, { as: olga });
  await server.request(restricted.requestAccess, { params, body: { message: 'To bake' } }, { as: ada });
  const { requests } = await server.request(restricted.listAccessRequests, { query: {} }, { as: olga });
  const requestId = requests[0]?.request_id ?? '';
  const decide = (decision: 'granted' | 'refused') =>
    server.request(
      restricted.decideAccessRequest,
      { params: { requestId }, body: { decision } },
      { as: olga },
    );
  await decide('granted');
  const url = await link(ada, asset);
  expect(await open(url)).toBe(200);
  await decide('refused');
  expect(await open(url)).toBe(404);
});
