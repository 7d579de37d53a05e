import type { Clone } from '@bakehouse/contract/hub/clones';
import { formatBytes } from '@bakehouse/contract/labels';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../../lib/format/count-of.ts';
import { outcomeText } from '../../../lib/format/outcome-text.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { useCancelClone, useRetryClone } from './clone-calls.ts';
import { CloneLog } from './clone-log.tsx';
import { isUnderWay, nounOf, phaseText } from './clone-sentences.ts';

const words: Partial<Record<Clone['status'], string>> = { LISTING: 'running', COPYING: 'running' };

/** One clone: progress or result, log, and actions. */
export function CloneItem({ clone }: { clone: Clone }) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const showsLog = chosen ?? clone.status === 'FAILED';
  return (
    <div className="px-5 py-4">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span className="font-medium [overflow-wrap:anywhere]">{clone.repo_id}</span>
            <StatusBadge
              status={words[clone.status] ?? clone.status.toLowerCase()}
              moving={isUnderWay(clone)}
            />
          </div>
          <p className="mt-0.5 text-compact text-muted">
            {clone.dataset_type === 'MODEL' ? 'Model' : 'Dataset'} at {clone.revision.slice(0, 8)}, started{' '}
            <RelativeTime at={clone.created_at} inSentence />
          </p>
        </div>
        <Actions clone={clone} showsLog={showsLog} onLog={() => setChosen(!showsLog)} />
      </div>
      {isUnderWay(clone) ? (
        <Progress
          className="mt-3"
          value={clone.bytes_total === null ? null : clone.progress}
          label={`Progress of ${clone.repo_id}`}
          hideLabel
        />
      ) : null}
      <p className="mt-2 text-compact text-muted tabular-nums [overflow-wrap:anywhere]">{stateText(clone)}</p>
      {showsLog && (
        <div className="mt-3">
          <CloneLog id={clone.id} />
        </div>
      )}
    </div>
  );
}

function stateText(clone: Clone): string {
  if (isUnderWay(clone)) return phaseText(clone);
  if (clone.status !== 'COMPLETED') return outcomeText(clone.reason, '0');
  return `${countOf(clone.files_total ?? 0, 'file')}, ${formatBytes(clone.bytes_total ?? 0)}`;
}

type ActionsProps = { clone: Clone; showsLog: boolean; onLog: () => void };

function Actions({ clone, showsLog, onLog }: ActionsProps) {
  const cancel = useCancelClone();
  const retry = useRetryClone();
  const noun = nounOf(clone);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button size="sm" variant="ghost" aria-expanded={showsLog} onClick={onLog}>
        {showsLog ? 'Hide log' : 'Show log'}
      </Button>
      {isUnderWay(clone) && (
        <Button size="sm" loading={cancel.isPending} onClick={() => cancel.mutate(clone.id)}>
          Cancel
        </Button>
      )}
      {(clone.status === 'FAILED' || clone.status === 'CANCELLED') && (
        <Button size="sm" loading={retry.isPending} onClick={() => retry.mutate(clone.id)}>
          <RotateCw aria-hidden />
          Try again
        </Button>
      )}
      {clone.asset_id !== null && (
        <ButtonLink
          size="sm"
          to={noun === 'model' ? '/model/$id/description' : '/dataset/$id/description'}
          params={{ id: clone.asset_id }}
        >
          Open {noun}
        </ButtonLink>
      )}
    </div>
  );
}
