import type { GeneratorName } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { useEffect, useEffectEvent, useState } from 'react';
import { readFromTab, writeToTab } from '../../../lib/tab-storage.ts';
import type { PrefilledInput } from '../../gallery/actions/remix.ts';
import type { Mask, Source } from '../../gallery/edit-picture/source.ts';
import { type FormValues, withSettings } from './form-values.ts';

export type Draft = { prompt: string; values: FormValues; source: Source | null; mask?: Mask };

/** The draft before the provider is known: its values hold only changed settings. */
export type UnresolvedDraft = Omit<Draft, 'values'> & { values: Record<string, unknown> };

/**
 * The draft of a generator's page. Kept in this tab until sign-out, so it survives signing in and reloads.
 * Values from a link override it, then `onTaken` is called.
 */
export function useDraft(name: GeneratorName, brought: PrefilledInput, onTaken: () => void) {
  const [typed, setTyped] = useState<UnresolvedDraft>(() => readStoredDraft(name));
  // Uses the current draft, because the user may type while a picture is being checked.
  const change = (changed: Partial<UnresolvedDraft>) => setTyped((current) => ({ ...current, ...changed }));
  useEffect(() => saveDraft(name, typed), [name, typed]);
  const { prompt, settings, source, source_output: outputId, same_source_as: sameAsId } = brought;
  const restoreDraft = useEffectEvent(() => {
    change({
      ...(prompt !== undefined && { prompt }),
      ...(settings && { values: withSettings(generators[name], typed.values, settings) }),
      ...((source ?? sameAsId) !== undefined && { mask: undefined }),
      ...(sameAsId !== undefined && { source: { sameAsId } }),
      ...(source !== undefined && {
        source: { generationId: source, ...(outputId !== undefined && { outputId }) },
      }),
    });
    onTaken();
  });
  const isBrought = [prompt, settings, source, sameAsId].some((part) => part !== undefined);
  useEffect(() => {
    if (isBrought) restoreDraft();
  }, [isBrought]);
  /** The picture may have been replaced. */
  const recordEdit = (edited: Source | null, editId: string) =>
    setTyped((current) =>
      edited && !('generationId' in edited) && current.source === edited
        ? { ...current, source: { ...edited, editId } }
        : current,
    );
  return { typed, change, recordEdit };
}

/** Not keyed by user: a visitor's draft survives signing in. */
const nameOf = (name: GeneratorName) => `draft.${name}`;

/** Returns the draft that this tab stored for the generator. */
export function readStoredDraft(name: GeneratorName): UnresolvedDraft {
  const { prompt, values, source } = (readFromTab(null, nameOf(name)) ?? {}) as Partial<UnresolvedDraft>;
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

function saveDraft(name: GeneratorName, typed: UnresolvedDraft): void {
  // The mask of a kept source is that of its edit.
  writeToTab(null, nameOf(name), { ...typed, source: keptSource(typed.source), mask: undefined });
}

/** Files and masks cannot be stored, so their edit is stored instead. */
function keptSource(source: Source | null): Source | null {
  if (source && 'editId' in source && source.editId !== undefined) return { sameAsId: source.editId };
  return source && 'file' in source ? null : source;
}
