import type { Judgement } from '@bakehouse/contract/judgements';
import { useQuery } from '@tanstack/react-query';
import { Scale, Square } from 'lucide-react';
import { useState } from 'react';
import { countOf } from '../../lib/format/count-of.ts';
import { outcomeText } from '../../lib/format/outcome-text.ts';
import { Button } from '../../ui/button.tsx';
import { Callout } from '../../ui/callout.tsx';
import { Card } from '../../ui/card.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Progress } from '../../ui/progress.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { GoOn } from '../deployments/chat/go-on.tsx';
import { JudgeDialog } from './judge-dialog.tsx';
import { JudgedRows } from './judged-rows.tsx';
import { quoteQuery, useCancelJudgement, useJudgement, useStartJudgement } from './judgement-calls.ts';
import { headline, isRunning, openOf, rateText } from './judgement-sentences.ts';

type Props = { runId: string; className?: string };

/** Whether a fine-tune answers better than its base, by a model that its owner chooses. */
export function JudgeCard({ runId, className }: Props) {
  return (
    <QueryView
      query={useJudgement(runId)}
      failed="The verdicts could not be loaded"
      pending={<Skeleton className="mb-5 h-24 w-full rounded-xl" />}
    >
      {({ judgement }) => <LoadedCard {...{ runId, judgement, className }} />}
    </QueryView>
  );
}

type LoadedProps = { runId: string; judgement: Judgement | null; className: string | undefined };

function LoadedCard({ runId, judgement, className }: LoadedProps) {
  const [asks, setAsks] = useState(false);
  const running = judgement !== null && isRunning(judgement);
  return (
    <Card
      title="Judged by a model"
      description={
        judgement
          ? `${judgement.settings.model} compares both answers to each row, in both orders.`
          : 'Whether this model answers better than the base model, by a model of your choice.'
      }
      actions={
        !running && (
          <Button size="sm" onClick={() => setAsks(true)}>
            <Scale aria-hidden />
            {judgement ? 'Judge again' : 'Choose a judge'}
          </Button>
        )
      }
      className={className}
    >
      {judgement ? (
        running ? (
          <Running judgement={judgement} />
        ) : (
          <Ended judgement={judgement} />
        )
      ) : (
        <p className="text-[0.8125rem] text-muted">No model was asked yet. You see the price before.</p>
      )}
      {asks && (
        <JudgeDialog runId={runId} before={judgement?.settings ?? null} onClose={() => setAsks(false)} />
      )}
    </Card>
  );
}

function Running({ judgement }: { judgement: Judgement }) {
  const { run_id: runId, status, requests, requests_done: done, error } = judgement;
  const cancel = useCancelJudgement(runId);
  return (
    <>
      <Progress value={(100 * done) / requests} label="Asking the judge" aside={`${done} of ${requests}`} />
      <div className="mt-3 flex flex-wrap items-center justify-between gap-3">
        <p className="min-w-0 text-[0.8125rem] text-muted [overflow-wrap:anywhere]">
          {status === 'cancelling' ? 'Cancelling' : 'It goes on when you leave this page.'}
          {error !== null && <span className="mt-1 block text-warn">{error}</span>}
        </p>
        <Button
          size="sm"
          disabled={status === 'cancelling'}
          loading={cancel.isPending}
          onClick={() => cancel.mutate()}
        >
          <Square aria-hidden />
          Cancel
        </Button>
      </div>
    </>
  );
}

/** What comes of it, row by row; what has no answer can be asked again. */
function Ended({ judgement }: { judgement: Judgement }) {
  const { run_id: runId, status, error, requests, cost_so_far: cost } = judgement;
  const { wins, ties, losses, no_verdict: noVerdict, rows } = judgement;
  const open = openOf(judgement);
  return (
    <div className="grid grid-cols-1 gap-4">
      {open > 0 && (
        <Callout
          tone={status === 'cancelled' ? 'info' : 'warn'}
          title={status === 'cancelled' ? 'Cancelled' : 'The judge did not answer everything'}
          action={<GoOnJudging runId={runId} requests={open} />}
        >
          {`${open} of ${countOf(requests, 'request')} without an answer. ${outcomeText(status === 'cancelled' ? '' : (error ?? ''), cost)}`}
        </Callout>
      )}
      <div>
        <p className="font-medium">{headline(judgement)}</p>
        <p className="mt-0.5 text-[0.8125rem] text-muted tabular-nums">
          {[rateText(judgement), open === 0 && outcomeText('', cost)].filter(Boolean).join(' ')}
        </p>
      </div>
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Figure label="Wins">{wins}</Figure>
        <Figure label="Ties">{ties}</Figure>
        <Figure label="Losses">{losses}</Figure>
        <Figure label="No verdict">{noVerdict}</Figure>
      </dl>
      <JudgedRows rows={rows} />
    </div>
  );
}

/** Asks what has no answer. */
function GoOnJudging({ runId, requests }: { runId: string; requests: number }) {
  const quote = useQuery(quoteQuery(runId, undefined));
  return <GoOn left={countOf(requests, 'request')} quote={quote} start={useStartJudgement(runId)} />;
}
