import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import { starterEmbeddingModel, starterLanguageModel } from './starters.ts';

/** Slugs of the starter models that are part of the program. They are registered at each start. */
export const BUILT_IN_STARTERS: readonly string[] = [
  starterLanguageModel.slug,
  starterEmbeddingModel.slug,
  PARIS_MODEL,
  KONTEXT_STARTER,
  WAN_STARTER,
];
