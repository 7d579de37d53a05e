import { type GeneratorName, makesVideos } from '../generators.ts';
import type { Generator, Starter } from './generator.ts';
import { generators } from './table.ts';

/**
 * Returns the starter model that serves a generator without another provider, and the generator it belongs
 * to: its own, or one with the same kind of output.
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
 * Returns the title of a generator for a result of this model, including the name of a substitute starter.
 */
export function titleOf(name: GeneratorName, model: string): string {
  const { of, starter } = starterFor(name);
  const generator: Generator = generators[name];
  return of !== name && starter.model === model ? formOfSubstitute(generator).title : generator.title;
}

/**
 * Returns the form of a generator that is served by another generator's starter. A picture ignores all
 * settings except the seed; a video accepts them all, but has the duration and size that the starter
 * supports.
 */
export function formOfSubstitute(generator: Generator): Generator {
  const counts = ({ kind }: Generator['fields'][number]) => generator.makes === 'video' || kind === 'seed';
  return {
    ...generator,
    title: `${generator.title} (starter model)`,
    fields: generator.fields.filter(counts),
  };
}
