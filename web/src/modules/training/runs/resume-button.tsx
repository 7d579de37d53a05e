import type { Run } from '@bakehouse/contract/training';
import { Play } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { ResumeDialog } from './resume-dialog.tsx';

/** Lets a run go on that can; that another cannot is said where it says how it ended. */
export function ResumeButton({ run }: { run: Run }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      {run.resume_hold !== null && (
        <Button onClick={() => setAsking(true)}>
          <Play aria-hidden />
          {run.stop_reason === 'ceiling' ? 'Resume with a higher ceiling' : 'Resume'}
        </Button>
      )}
      <ResumeDialog run={run} open={asking} onClose={() => setAsking(false)} />
    </>
  );
}
