import type { Run } from '@bakehouse/contract/runs';
import { useEffect, useState } from 'react';
import { extrapolateRun, timeText } from './run-sentences.ts';

/** Elapsed and remaining time of a run. Ticks between reports, and resets with each report. */
export function RunTime({ run }: { run: Run }) {
  return <Ticking key={`${run.state} ${run.phase} ${run.elapsed_seconds}`} run={run} />;
}

function Ticking({ run }: { run: Run }) {
  const [since, setSince] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => setSince((performance.now() - began) / 1000), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <span>{timeText(extrapolateRun(run, since))}</span>;
}
