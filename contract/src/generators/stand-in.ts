import { type GeneratorName, makesVideos } from '../generators.ts';
import type { Generator, Starter } from './generator.ts';
import { generators } from './table.ts';

/**
 * The starter model that serves a generator where nobody else does, and whose it is: its own, or that of one which makes
 * the same from a prompt. Pure.
 */
export function starterFor(name: GeneratorName): { of: GeneratorName; starter: Starter } {
  const { starter: own }: Generator = generators[name];
  if (own) return { of: name, starter: own };
  const of = makesVideos(name) ? 'wan' : 'paris';
  const { starter }: Generator = generators[of];
  if (!starter) throw new Error(`${of} has no starter model`);
  return { of, starter };
}

/** What a generator is called where a model of this name has generated: who stands in is said. Pure. */
export function titleOf(name: GeneratorName, model: string): string {
  const { of, starter } = starterFor(name);
  const generator: Generator = generators[name];
  return of !== name && starter.model === model ? atStandIn(generator).title : generator.title;
}

/**
 * The generator as the starter model of another one stands in for it. It makes pictures in its own way, so that no setting
 * counts; a video is asked for in full, and is as long and large as the starter makes it. Pure.
 */
export function atStandIn(generator: Generator): Generator {
  const counts = ({ kind }: Generator['fields'][number]) => generator.makes === 'video' || kind === 'seed';
  return {
    ...generator,
    title: `${generator.title} (starter model)`,
    fields: generator.fields.filter(counts),
  };
}
