import { relativeToRoot, type StageReport } from './test-report.ts';

export type FinishedStage = StageReport & { title: string; ms: number };

const SLOWEST = 5;

/** Prints the time of each stage, the slowest test files, and the failed tests of all stages. */
export function printSummary(stages: FinishedStage[]): void {
  console.log('\nTime by stage');
  for (const { title, ms } of stages) console.log(`  ${inSeconds(ms)}  ${title}`);
  const slowest = stages
    .flatMap(({ fileTimes }) => Object.entries(fileTimes))
    .sort(([, a], [, b]) => b - a)
    .slice(0, SLOWEST);
  console.log('Slowest files');
  for (const [file, ms] of slowest) console.log(`  ${inSeconds(ms)}  ${relativeToRoot(file)}`);
  const failures = stages.flatMap((stage) => stage.failures);
  if (failures.length > 0) console.log(['Failed', ...failures].join('\n  '));
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1).padStart(7)} s`;
}
