import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { useEffect, useEffectEvent, useState } from 'react';
import { keepInTab, readFromTab } from '../../../lib/tab-storage.ts';
import type { Brought } from '../../generations/actions/remix.ts';
import type { Source } from '../../generations/edit-picture/source.ts';
import { type FormValues, withSettings } from './form-values.ts';

export type Draft = { prompt: string; values: FormValues; source: Source | null };

/** The same before it is known who generates: settings that nobody has turned are not among its values. */
export type Typed = Omit<Draft, 'values'> & { values: Record<string, unknown> };

/**
 * What is typed on a generator's page. This tab keeps it until somebody signs out, so that it is there again after
 * signing in or a reload. What is brought along is put over it, and `onTaken` says so.
 */
export function useDraft(name: GeneratorName, brought: Brought, onTaken: () => void) {
  const [typed, setTyped] = useState<Typed>(() => readKept(name));
  // A picture is looked at while somebody types on, so what changes is put over the draft as it is by then.
  const change = (changed: Partial<Typed>) => setTyped((current) => ({ ...current, ...changed }));
  useEffect(() => keep(name, typed), [name, typed]);
  const { prompt, settings, source, source_output: outputId, same_source_as: sameAsId } = brought;
  const take = useEffectEvent(() => {
    change({
      ...(prompt !== undefined && { prompt }),
      ...(settings && { values: withSettings(generators[name], typed.values, settings) }),
      ...(sameAsId !== undefined && { source: { sameAsId } }),
      ...(source !== undefined && {
        source: { generationId: source, ...(outputId !== undefined && { outputId }) },
      }),
    });
    onTaken();
  });
  const isBrought = [prompt, settings, source, sameAsId].some((part) => part !== undefined);
  useEffect(() => {
    if (isBrought) take();
  }, [isBrought]);
  /** Another picture may stand there by then. */
  const noteEdit = (edited: Source | null, editId: string) =>
    setTyped((current) =>
      edited && !('generationId' in edited) && current.source === edited
        ? { ...current, source: { ...edited, editId } }
        : current,
    );
  return { typed, change, noteEdit };
}

/** Not of one user: a visitor's is there after signing in. */
const nameOf = (name: GeneratorName) => `draft.${name}`;

/** What was typed on the generator's page, as this tab has kept it. */
export function readKept(name: GeneratorName): Typed {
  const { prompt, values, source } = (readFromTab(null, nameOf(name)) ?? {}) as Partial<Typed>;
  return {
    prompt: typeof prompt === 'string' ? prompt : '',
    values: values ?? {},
    source: isKept(source) ? source : null,
  };
}

function isKept(source: unknown): source is Source {
  const ids = typeof source === 'object' && source !== null ? Object.entries(source) : [];
  return ids.some(([kind, id]) => ['generationId', 'sameAsId'].includes(kind) && typeof id === 'string');
}

function keep(name: GeneratorName, typed: Typed): void {
  keepInTab(null, nameOf(name), { ...typed, source: keptSource(typed.source) });
}

/** A file cannot be kept; the picture is that of the edit that was made of it. */
function keptSource(source: Source | null): Source | null {
  if (!source || !('file' in source)) return source;
  return source.editId === undefined ? null : { sameAsId: source.editId };
}
