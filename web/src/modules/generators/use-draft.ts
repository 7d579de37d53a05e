import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { useEffect, useEffectEvent, useState } from 'react';
import type { Brought } from '../images/api.ts';
import { type FormValues, initialValues, withSettings } from './form-values.ts';

export type Draft = { prompt: string; values: FormValues };

/**
 * What is typed on a generator's page. This tab keeps it, so that it is there again after signing in or a reload. What is
 * brought along is put over it, and `onTaken` says so.
 */
export function useDraft(name: GeneratorName, brought: Brought, onTaken: () => void) {
  const [draft, setDraft] = useState<Draft>(() => {
    const kept = readKept(name);
    return { prompt: kept.prompt, values: initialValues(generators[name], kept.values) };
  });
  const change = (changed: Partial<Draft>) => {
    const next = { ...draft, ...changed };
    setDraft(next);
    keep(name, next);
  };
  const take = useEffectEvent(({ prompt, settings }: Brought) => {
    change({
      ...(prompt !== undefined && { prompt }),
      ...(settings && { values: withSettings(generators[name], draft.values, settings) }),
    });
    onTaken();
  });
  const { prompt, settings } = brought;
  useEffect(() => {
    if (prompt !== undefined || settings)
      take({ ...(prompt !== undefined && { prompt }), ...(settings && { settings }) });
  }, [prompt, settings]);
  return [draft, change] as const;
}

const keyOf = (name: GeneratorName) => `bakehouse.draft.${name}`;

function readKept(name: GeneratorName): { prompt: string; values: Record<string, unknown> } {
  try {
    const { prompt, values } = JSON.parse(sessionStorage.getItem(keyOf(name)) ?? '{}');
    return { prompt: typeof prompt === 'string' ? prompt : '', values: values ?? {} };
  } catch {
    return { prompt: '', values: {} };
  }
}

function keep(name: GeneratorName, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
  } catch {
    // Storage is blocked: the draft lasts as long as the page.
  }
}
