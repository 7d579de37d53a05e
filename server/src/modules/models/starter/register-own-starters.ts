import type { RegisterStarterModels } from '../../../engine/host/preparation/prepare-machine.ts';
import type { Services } from '../../../platform/context.ts';
import { registerImageStarter } from './register-image-starter.ts';
import { registerStarterModel } from './register-starter-model.ts';
import { starterEmbeddingModel } from './starter-embedding-model.ts';
import { starterLanguageModel } from './starter-language-model.ts';

/** What makes the starter models that come with the program, of the files that a machine has prepared. */
export function registerOwnStarters(services: Services): RegisterStarterModels {
  return {
    language: (files) => registerStarterModel(services, { ...starterLanguageModel, files }),
    embedding: (files) => registerStarterModel(services, { ...starterEmbeddingModel, files }),
    image: (name, files) => registerImageStarter(services, name, files),
  };
}
