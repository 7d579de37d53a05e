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

/** Returns the title of a generator. If another one's starter made the result, also names that one. */
export function titleOf(name: GeneratorName, model: string): string {
  const { of, starter } = starterFor(name);
  const generator: Generator = generators[name];
  return of !== name && starter.model === model ? formOfSubstitute(generator).title : generator.title;
}

/**
 * Returns the form of a generator for which another generator's starter generates. For pictures, only the
 * seed has an effect. For videos, all settings do, but duration and size are those that the starter supports.
 */
export function formOfSubstitute(generator: Generator): Generator {
  const counts = ({ kind }: Generator['fields'][number]) => generator.makes === 'video' || kind === 'seed';
  return {
    ...generator,
    title: `${generator.title} (starter model)`,
    fields: generator.fields.filter(counts),
  };
}
