import type { GeneratorName } from '@bakehouse/contract/generators';
import { KONTEXT_STARTER } from '@bakehouse/contract/kontext';
import { PARIS_MODEL } from '@bakehouse/contract/paris';

/** The models of an installation's own by which generators are served. */
export const ownModels: Partial<Record<GeneratorName, string>> = {
  paris: PARIS_MODEL,
  'flux-kontext': KONTEXT_STARTER,
};
