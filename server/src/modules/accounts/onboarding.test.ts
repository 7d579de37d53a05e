import { changeOnboarding, getMe } from '@bakehouse/contract/accounts';
import { createAsset } from '@bakehouse/contract/assets';
import { expect, test } from 'vitest';
import { testServer } from '../../testing/test-server.ts';

const server = await testServer();

test('the onboarding checklist can be hidden and shown, and completed steps are recorded in both states', async () => {
  const ada = await server.signUp('Ada');
  const change = (dismissed: boolean) =>
    server.request(changeOnboarding, { body: { dismissed } }, { as: ada });
  const seen = async () => (await server.request(getMe, {}, { as: ada })).onboarding;
  expect(await seen()).toMatchObject({ dismissed: false, onboarding_completed: false });
  expect(await change(true)).toMatchObject({ dismissed: true, onboarding_completed: false });
  const body = { dataset_type: 'RAW', title: 'rows', user_id: ada.userId } as const;
  await server.request(createAsset, { body }, { as: ada });
  expect(await seen()).toMatchObject({ dismissed: true, steps: { create_dataset: { completed: true } } });
  expect(await change(false)).toMatchObject({ dismissed: false });
});
