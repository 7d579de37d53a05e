import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { Run } from '@bakehouse/contract/runs';
import { Play } from 'lucide-react';
import { type FormEvent, useId, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { focusFirstInvalid } from '../../../ui/focus-first-invalid.ts';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { CeilingField } from '../parameters/ceiling-field.tsx';
import { ceilingProblem } from '../parameters/parameter-problems.ts';
import { useResumeRun } from './run-calls.ts';

/** Resumes a run if possible; otherwise the run's outcome explains why not. */
export function ResumeButton({ run }: { run: Run }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      {run.resume_hold !== null && (
        <Button onClick={() => setAsking(true)}>
          <Play aria-hidden />
          {run.stop_reason === 'ceiling' ? 'Resume with a higher limit' : 'Resume'}
        </Button>
      )}
      <ResumeDialog run={run} open={asking} onClose={() => setAsking(false)} />
    </>
  );
}

type Props = { run: Run; open: boolean; onClose: () => void };

/** Asks for the run's total ceiling before resuming it. */
export function ResumeDialog({ run: newest, open, onClose }: Props) {
  // Keep the previous run during the closing animation: once resumed, its `resume_hold` is null.
  const [run, setRun] = useState(newest);
  if (newest !== run && newest.resume_hold !== null) setRun(newest);
  const [ceiling, setCeiling] = useState('');
  const form = useId();
  const resume = useResumeRun(run.run_id);
  const usual = run.resume_ceiling ?? run.ceiling;
  const problem = ceilingProblem(ceiling);

  if (run.resume_hold === null) return null;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    focusFirstInvalid(event.currentTarget);
    if (problem === null && !resume.isPending) resume.mutate(ceiling, { onSuccess: onClose });
  }

  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onClose}
      title={run.stop_reason === 'ceiling' ? 'Resume with a higher limit?' : 'Resume this run?'}
      description={
        <form id={form} onSubmit={submit}>
          {run.step === 0 ? 'It starts from the beginning.' : 'It continues from its last checkpoint.'} Up to{' '}
          <Money bgl={run.resume_hold} /> is held for{' '}
          {run.resume_unpaid !== null && (
            <>
              the saved work, of which <Money bgl={run.resume_unpaid} /> has not been charged yet, and{' '}
            </>
          )}
          the rest, estimated from its speed so far. You pay for the time used.
          <CeilingField
            className="mt-4"
            value={ceiling}
            usual={usual}
            resumes
            expected={formatBgl(parseBgl(run.cost_so_far) + parseBgl(run.resume_hold))}
            error={problem ?? (isOfCeiling(resume.error) ? errorMessage(resume.error) : undefined)}
            onChange={(value) => {
              setCeiling(value);
              resume.reset();
            }}
          />
          {resume.error && !isOfCeiling(resume.error) && (
            <Callout tone="bad" className="mt-4">
              {errorMessage(resume.error)}
            </Callout>
          )}
        </form>
      }
      action="Resume"
      tone="primary"
      pending={resume.isPending}
      form={form}
    />
  );
}

/** Returns true if the error is about the typed ceiling, so that its field is marked. */
function isOfCeiling(error: unknown): boolean {
  return error instanceof ApiError && error.param === 'ceiling';
}
