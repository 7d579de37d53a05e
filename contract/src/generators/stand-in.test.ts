import { expect, test } from 'vitest';
import { generatorNames } from '../generators.ts';
import { completeParameters } from './parameters/parameters.ts';
import { formOfSubstitute, starterFor } from './stand-in.ts';
import { generators } from './table.ts';

test('every generator has a starter with the same kind of output', () => {
  for (const name of generatorNames)
    expect(generators[starterFor(name).of].makes).toBe(generators[name].makes);
  expect(starterFor('flux-kontext').of).toBe('flux-kontext');
  expect(starterFor('recraft')).toMatchObject({ of: 'paris', starter: { model: 'paris-ddm-v1.0' } });
  expect(starterFor('veo')).toMatchObject({ of: 'wan', starter: { model: 'wan-starter' } });
});

test('a substitute video has the length, size and silence of the starter; a picture only a seed', () => {
  const veo = completeParameters(formOfSubstitute('veo'), { duration: '8', generate_audio: true });
  expect(veo.values).toEqual({
    ...{ duration: '2', quality: '64p', aspect_ratio: '1:1', generate_audio: false },
    ...{ negative_prompt: '', seed: null },
  });
  const flux = formOfSubstitute('flux');
  expect(completeParameters(flux, { seed: 7 }).values).toEqual({ seed: 7 });
  expect(completeParameters(flux, { n: 4 }).problem).toEqual({
    field: 'n',
    message: 'Paris starter has no parameter n',
  });
});
