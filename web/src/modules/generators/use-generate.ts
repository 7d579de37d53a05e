import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { useState } from 'react';
import {
  isUnderWay,
  ONE_AT_A_TIME,
  type Shown,
  useRecentGenerations,
  useStartGeneration,
} from '../images/api.ts';
import { requestParameters } from './form-values.ts';
import type { Draft } from './use-draft.ts';

/** Generate on a generator's page: one picture at a time, and the one that was begun last is shown. */
export function useGenerate(name: GeneratorName, { prompt, values }: Draft, userId: string | undefined) {
  const [shown, show] = useState<Shown | null>(null);
  const [refused, setRefused] = useState(false);
  const start = useStartGeneration();
  const busy = useRecentGenerations(userId).some(isUnderWay);
  return {
    shown,
    show,
    isStarting: start.isPending,
    refusal: refused && busy ? ONE_AT_A_TIME : null,
    start: () => {
      setRefused(busy);
      if (busy || start.isPending) return;
      start.mutate(
        { generator: name, prompt, parameters: requestParameters(generators[name], values) },
        { onSuccess: ({ id }) => show({ id }) },
      );
    },
  };
}
