import type { Clone } from '@bakehouse/contract/hub/clones';
import { Button } from '../../../ui/button.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { useCancelClone } from '../clones/clone-calls.ts';
import { phaseText } from '../clones/clone-sentences.ts';

/** A clone that the user is waiting for. */
export function CloneInProgress({ clone }: { clone: Clone }) {
  const cancel = useCancelClone();
  return (
    <div className="rounded-xl bg-subtle px-4 py-3">
      <Progress
        value={clone.bytes_total === null ? null : clone.progress}
        label={`Cloning ${clone.repo_id}`}
      />
      <div className="mt-2 flex items-center justify-between gap-3">
        <p className="min-w-0 text-compact text-muted tabular-nums">{phaseText(clone)}</p>
        <Button size="sm" loading={cancel.isPending} onClick={() => cancel.mutate(clone.id)}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
