import { expect, it } from 'vitest';
import { readConfigurationFile, uniqueName, writeConfigurationFile } from './configuration-file.ts';

const configuration = {
  config_name: 'Small',
  fine_tune_payload: { epochs: 3, learning_rate: 0.0002, lora_target_modules: ['q_proj' as const] },
};
const file = (text: string, name = 'recipe.yaml') => new File([text], name);

it.each(['yaml', 'json'] as const)('a configuration exported as %s can be imported', async (format) => {
  const text = await writeConfigurationFile(configuration, format);
  expect(await readConfigurationFile(file(text, `x.${format}`))).toEqual(configuration);
});

it('exported YAML is readable', async () => {
  expect(await writeConfigurationFile(configuration, 'yaml')).toMatch(
    /^config_name: Small\nfine_tune_payload:\n {2}epochs: 3\n/,
  );
});

it('a file without a name uses its file name, and its owner is dropped', async () => {
  const text = 'user_id: bob\nepochs: 3\nfineTunePayload:\n  userId: bob\n  loraR: 4\n';
  expect(await readConfigurationFile(file(text, 'my recipe.yml'))).toEqual({
    config_name: 'my recipe',
    epochs: 3,
    fineTunePayload: { loraR: 4 },
  });
});

it.each([
  ['epochs: [3', /^recipe\.yaml is neither YAML nor JSON: .+/],
  ['- 1\n- 2', /^recipe\.yaml does not contain a template\.$/],
  ['hello', /does not contain a template/],
  ['config_name: 7', /^config_name of recipe\.yaml must be text\.$/],
  ['x'.repeat(70_000), /is too large for a template/],
])('a file with %.12j shows what is wrong with it', async (text, message) => {
  await expect(readConfigurationFile(file(text))).rejects.toMatchObject({
    // Only an `ApiError` is not sent to error reporting.
    name: 'ApiError',
    status: 400,
    message: expect.stringMatching(message),
  });
});

it('a taken name gets a number', () => {
  expect(uniqueName('one', ['two'])).toBe('one');
  expect(uniqueName('one', ['one', 'one (2)'])).toBe('one (3)');
  expect(uniqueName('x'.repeat(100), ['x'.repeat(100)])).toBe(`${'x'.repeat(96)} (2)`);
});
