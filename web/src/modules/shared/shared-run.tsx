import type { SharedRun } from '@bakehouse/contract/share-links';
import { formatNumber } from '../../lib/format/format-number.ts';
import { formatDuration } from '../../lib/format/format-time.ts';
import { Card } from '../../ui/card.tsx';
import { Figure } from '../../ui/figure.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { AnswersCard } from '../training/held-out/held-out-answers.tsx';
import { SampleViewer } from '../training/pictures/sample-viewer.tsx';
import { CurvesOf } from '../training/runs/curves/run-curves.tsx';
import { Losses } from '../training/runs/run-outcome.tsx';
import { hasEnded } from '../training/runs/run-state.ts';
import { byline } from './byline.ts';
import { MadeFrom } from './made-from.tsx';

/** How well a training run has learned, without its cost and its log. */
export function SharedRunPage({ shared: run }: { shared: SharedRun }) {
  const { title, trains, made_from, points, held_out_answers: answers, samples } = run;
  const noun = trains === 'pictures' ? 'Training run on pictures' : 'Training run';
  return (
    <>
      <PageHeader title={title} description={byline(run, noun)} badge={<StatusBadge status={run.state} />} />
      <RunFigures run={run} />
      {samples && (
        <Card title="Samples" className="mb-5">
          <SampleViewer {...samples} />
        </Card>
      )}
      {answers && <AnswersCard answers={answers} className="mb-5" />}
      <CurvesOf points={points} charts={[]} ended={hasEnded(run)} />
      <Card title="Made from" className="mt-5 max-w-xl">
        <MadeFrom {...made_from} />
      </Card>
    </>
  );
}

function RunFigures({ run }: { run: SharedRun }) {
  const { state, step, steps_total: total, elapsed_seconds: elapsed } = run;
  return (
    <dl className="mb-5 grid grid-cols-2 gap-3 sm:grid-cols-3 max-sm:[&>:last-child:nth-child(odd)]:col-span-2">
      {state === 'completed' ? (
        <Losses run={run} />
      ) : (
        <Figure card label="Steps">
          {total > 0 ? `${formatNumber(step)} of ${formatNumber(total)}` : '–'}
        </Figure>
      )}
      <Figure card label="Duration">
        {formatDuration(elapsed)}
      </Figure>
    </dl>
  );
}
