import { type GeneratorName, makesVideos } from '../generators.ts';
import type { Generator, Starter } from './generator.ts';
import { generators } from './table.ts';

/**
 * Returns the starter model that generates if a generator has no other provider, and the generator to which
 * that starter belongs: this one, or one with the same kind of output.
 */
export function starterFor(name: GeneratorName): { of: GeneratorName; starter: Starter } {
  const { starter: own }: Generator = generators[name];
  if (own) return { of: name, starter: own };
  const of = makesVideos(name) ? 'wan' : 'paris';
  const { starter }: Generator = generators[of];
  if (!starter) throw new Error(`${of} has no starter model`);
  return { of, starter };
}

/**
 * Returns the form of a generator for which another generator's starter generates. For pictures, only the
 * seed has an effect. A video has the starter's length and size, and no sound, whatever is requested.
 */
export function formOfSubstitute(name: GeneratorName): Generator {
  const generator: Generator = generators[name];
  const { title, fixed } = starterFor(name).starter;
  if (makesVideos(name)) return { ...generator, title, fixed: { ...fixed, generate_audio: false } };
  return { ...generator, title, fields: generator.fields.filter(({ kind }) => kind === 'seed') };
}
