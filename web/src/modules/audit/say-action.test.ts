import { expect, test } from 'vitest';
import { sayAction } from './say-action.ts';

test.each([
  ['api_key.created', 'API key created'],
  ['asset.file_deleted', 'Asset file deleted'],
  ['credits.charged_back', 'Credits charged back'],
  ['user.created', 'Account created'],
])('%s is said as %s', (action, said) => {
  expect(sayAction(action)).toBe(said);
});
