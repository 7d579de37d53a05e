import type { GeneratorName } from '@bakehouse/contract/generators';
import { createContext, useContext } from 'react';
import type { Draft } from './form/use-draft.ts';
import type { useGenerate } from './use-generate.ts';
import type { useServing } from './use-serving.ts';

/** What the parts of a generator's page are about. */
export type GeneratorPageState = {
  name: GeneratorName;
  /** The page has this installation's own models alone. */
  ownOnly: boolean;
  /** Undefined for a visitor, and until it is known. */
  userId: string | undefined;
  isUserKnown: boolean;
  draft: Draft;
  change: (changed: Partial<Draft>) => void;
  /** Who generates, and the form as they take it. */
  serving: ReturnType<typeof useServing>;
  generation: ReturnType<typeof useGenerate>;
  /** Whether this person can generate here. */
  isOpen: boolean;
};

export const GeneratorContext = createContext<GeneratorPageState | null>(null);

/** Throws outside a generator's page. */
export function useGeneratorPage(): GeneratorPageState {
  const state = useContext(GeneratorContext);
  if (!state) throw new Error('This is part of a generator’s page');
  return state;
}
