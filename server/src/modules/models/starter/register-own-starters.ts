import type { Services } from '../../../platform/context.ts';
import { registerImageStarter } from './register-image-starter.ts';
import { registerStarterModel } from './register-starter-model.ts';
import { starterEmbeddingModel } from './starter-embedding-model.ts';
import { starterLanguageModel } from './starter-language-model.ts';

type Image = Parameters<typeof registerImageStarter>;
type Files = Image[2];

/** Returns the functions that register prepared files as starter models. */
export function registerOwnStarters(services: Services) {
  return {
    language: (files: Files) => registerStarterModel(services, { ...starterLanguageModel, files }),
    embedding: (files: Files) => registerStarterModel(services, { ...starterEmbeddingModel, files }),
    image: (name: Image[1], files: Files) => registerImageStarter(services, name, files),
  };
}
