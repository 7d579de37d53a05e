import type { Run } from '@bakehouse/contract/training';
import { useState } from 'react';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Money } from '../../ui/money.tsx';
import { useResumeRun } from './api.ts';
import { CeilingField } from './ceiling-field.tsx';
import { ceilingProblem } from './create-model-wizard-state.ts';

type Props = { run: Run; open: boolean; onClose: () => void };

/** Asks what the run may cost in all before it goes on. */
export function ResumeDialog({ run, open, onClose }: Props) {
  const [ceiling, setCeiling] = useState('');
  const resume = useResumeRun(run.run_id);
  const usual = run.resume_ceiling ?? run.ceiling;
  const problem = ceilingProblem(ceiling);

  function confirm() {
    if (problem === null) resume.mutate(ceiling || usual, { onSettled: onClose });
  }

  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onClose}
      title={run.stop_reason === 'ceiling' ? 'Resume with a higher ceiling?' : 'Resume this run?'}
      description={
        <>
          It goes on from its last checkpoint. <Money bgl={run.resume_hold ?? run.quote.total} /> is held for
          the rest, estimated from its speed so far. You pay for the time used.
          <CeilingField
            className="mt-4"
            value={ceiling}
            usual={usual}
            error={problem ?? undefined}
            onChange={setCeiling}
          />
        </>
      }
      action="Resume"
      tone="primary"
      pending={resume.isPending}
      onConfirm={confirm}
    />
  );
}
