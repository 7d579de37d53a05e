import { expect, test } from 'vitest';
import { describeAction } from './describe-action.ts';

test.each([
  ['api_key.created', 'API key created'],
  ['asset.file_deleted', 'Asset file deleted'],
  ['credits.charged_back', 'Credits charged back'],
  ['user.created', 'Account created'],
])('%s is said as %s', (action, said) => {
  expect(describeAction(action)).toBe(said);
});
