import type { GeneratorName } from '@bakehouse/contract/generators';
import { createContext, useContext } from 'react';
import type { Draft } from './form/use-draft.ts';
import type { useGenerate } from './use-generate.ts';
import type { useServing } from './use-serving.ts';

/** State of a generator's page. */
export type GeneratorPageState = {
  name: GeneratorName;
  /** The page offers only this server's own models. */
  ownOnly: boolean;
  /** Undefined for visitors and while loading. */
  userId: string | undefined;
  isUserKnown: boolean;
  draft: Draft;
  change: (changed: Partial<Draft>) => void;
  /** The provider and its form. */
  serving: ReturnType<typeof useServing>;
  generation: ReturnType<typeof useGenerate>;
  /** This user can generate here. */
  isOpen: boolean;
};

export const GeneratorContext = createContext<GeneratorPageState | null>(null);

/** Throws outside a generator's page. */
export function useGeneratorPage(): GeneratorPageState {
  const state = useContext(GeneratorContext);
  if (!state) throw new Error('useGeneratorPage must be called inside a generator page');
  return state;
}
