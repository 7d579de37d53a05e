import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import { imageStarters } from '../../../engine/host/preparation/image-starters.ts';

const MODELS = path.resolve(import.meta.dirname, '../../../../../models');

test.each([
  ['paris', imageStarters.paris, 'cfg_scale'],
  ['flux-kontext', imageStarters.kontext, 'guidance_scale'],
  ['wan', imageStarters.wan, 'guidance_scale'],
] as const)('the page of %s defaults to the steps and guidance of %s', async (name, folder, guidance) => {
  const said = JSON.parse(await readFile(path.join(MODELS, folder, 'model_index.json'), 'utf8'));
  const { fields, starter } = generators[name];
  const quality = starter?.qualities.find(({ label }) => label === starter.opensOn);
  const valueOf = (wanted: string) => {
    const field = fields.find((one) => one.name === wanted);
    return quality?.settings[wanted] ?? (field && 'default' in field ? field.default : undefined);
  };
  expect(valueOf('num_inference_steps')).toBe(said.default_steps);
  expect(valueOf(guidance)).toBe(said.default_guidance);
});
