import { ROW_EDITS_MAX } from '@bakehouse/contract/data-files';
import { Redo2, Undo2 } from 'lucide-react';
import { useEffect, useEffectEvent } from 'react';
import { COMMAND_KEY } from '../../../../../lib/device/command-key.ts';
import { isTaken } from '../../../../../lib/device/use-step-keys.ts';
import { countOf } from '../../../../../lib/format/count-of.ts';
import { Button } from '../../../../../ui/button.tsx';
import { Callout } from '../../../../../ui/callout.tsx';
import { errorMessage } from '../../../../../ui/notify.ts';
import { isParquet, isStale, type RowEdits } from './use-row-edits.ts';

/** Unsaved changes of a file's rows, with buttons to undo and to save them. */
export function EditBar({ edits, path }: { edits: RowEdits; path: string }) {
  const { changes, undo, redo, isSaving, problem } = edits;
  useUndoKeys(isSaving ? null : undo, isSaving ? null : redo);
  if (!undo && !redo) return null;
  const isTooMany = changes.size > ROW_EDITS_MAX;
  return (
    <section aria-label="Changes" className="mx-5 mb-3 flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2 rounded-xl bg-warn-soft px-3 py-2">
        <p role="status" className="mr-auto font-medium text-compact">
          {changes.size === 0 ? 'No changes' : `${countOf(changes.size, 'changed row')}, not saved yet`}
        </p>
        <Button size="sm" title={`${COMMAND_KEY} Z`} disabled={!undo || isSaving} onClick={() => undo?.()}>
          <Undo2 aria-hidden />
          Undo
        </Button>
        <Button size="icon-sm" aria-label="Redo" disabled={!redo || isSaving} onClick={() => redo?.()}>
          <Redo2 aria-hidden />
        </Button>
        <Button size="sm" disabled={isSaving} onClick={edits.discard}>
          Discard
        </Button>
        <Button
          size="sm"
          variant="primary"
          loading={isSaving}
          disabled={changes.size === 0 || isTooMany}
          onClick={edits.save}
        >
          Save as new version
        </Button>
      </div>
      {isTooMany && (
        <Callout tone="warn">{`Save at most ${countOf(ROW_EDITS_MAX, 'row')} at a time.`}</Callout>
      )}
      {problem && (
        <Callout tone="bad" title="The rows were not saved">
          {isStale(problem)
            ? `The file has changed since you started. ${isParquet(path) ? 'Discard your changes and make them again.' : 'Your changes are still here: save again to apply them to the current rows.'}`
            : errorMessage(problem)}
        </Callout>
      )}
    </section>
  );
}

/** Undoes with Ctrl Z and redoes with Ctrl Shift Z, outside fields and dialogs. */
function useUndoKeys(undo: (() => void) | null, redo: (() => void) | null): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'z' || !(event.ctrlKey || event.metaKey) || isTaken(event)) return;
    const act = event.shiftKey ? redo : undo;
    if (!act) return;
    event.preventDefault();
    act();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}
