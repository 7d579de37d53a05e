import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import { openingValues, qualitiesOf, qualityOf, settingsInWords, withQuality } from './qualities.ts';

const { paris, flux, recraft } = generators;
const ofStarter = qualitiesOf(paris, true);
const labelled = (label: string) => ofStarter.find((one) => one.label === label) ?? { label, settings: {} };

test('without the starter a page opens with the specified values, and earlier values override them', () => {
  const specified = { cfg_scale: 7.5, num_inference_steps: 100, sampling_strategy: 'topk', k: 4 };
  expect(openingValues('paris', false, {})).toMatchObject(specified);
  expect(openingValues('paris', true, { num_inference_steps: 33 })).toMatchObject({
    ...{ cfg_scale: 4, num_inference_steps: 33 },
  });
});

test('a quality changes only its own settings, and fields determined by others stay', () => {
  const typed = { ...openingValues('paris', true, {}), k: 6, seed: 7 };
  const draft = withQuality(paris, typed, labelled('Draft'), ofStarter);
  expect(draft).toMatchObject({ num_inference_steps: 10, sampling_strategy: 'top1', k: 6, seed: 7 });
  expect(qualityOf(paris, draft, ofStarter)?.label).toBe('Draft');
  const specified = withQuality(paris, draft, labelled('API defaults'), ofStarter);
  expect(specified).toMatchObject({ ...openingValues('paris', false, {}), seed: 7 });
  expect(qualityOf(paris, { ...specified, cfg_scale: 3 }, ofStarter)).toBeUndefined();
});

test('a provider with steps has a draft of half of them; one without has no qualities', () => {
  const [draft, fine] = qualitiesOf(flux, false);
  expect([draft?.settings, fine?.settings]).toEqual([{ num_inference_steps: 14 }, {}]);
  expect(qualityOf(flux, openingValues('flux', false, {}), qualitiesOf(flux, false))).toEqual(fine);
  expect(qualitiesOf(recraft, false)).toEqual([]);
});

test('describes settings in words', () => {
  expect(settingsInWords(flux, openingValues('flux', false, {}))).toBe('28 steps, guidance 3.5');
  const full = { ...openingValues('paris', true, {}), sampling_strategy: 'full' };
  expect(settingsInWords(paris, full)).toBe('20 steps, guidance 4, 8 experts');
});
