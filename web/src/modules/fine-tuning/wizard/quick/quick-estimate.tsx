import type { Objective } from '@bakehouse/contract/limits';
import type { ReactNode } from 'react';
import { countOf } from '../../../../lib/format/count-of.ts';
import { currencyChoice } from '../../../../lib/format/currency.ts';
import { Callout } from '../../../../ui/callout.tsx';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { objectiveSentence } from '../../parameters/objective-sentence.ts';
import { SamplePair } from '../../parameters/sample-pair.tsx';
import { SampleParts } from '../../parameters/sample-parts.tsx';
import { SampleRating } from '../../parameters/sample-rating.tsx';
import { SampleReference } from '../../parameters/sample-reference.tsx';
import { ScanNotice } from '../../readings/scan-notice.tsx';
import { costSentence } from '../review/cost-sentence.ts';
import type { Wizard } from '../wizard-state.ts';

/** Too few rows to learn from, according to OpenAI. */
const ROWS_FEW = 10;

type Props = {
  wizard: Pick<Wizard, 'state' | 'validation' | 'reading'>;
  /** True if all fields are filled in, so that an estimate was requested. */
  isComplete: boolean;
  wayOut: ReactNode;
};

/** Cost and duration of the fine-tune in one sentence, with one example as the model reads it. */
export function QuickEstimate({ wizard: { state, validation, reading }, isComplete, wayOut }: Props) {
  const currency = currencyChoice.use();
  if (!validation) return isComplete ? <Pending /> : null;
  const { data, critical_errors } = validation;
  if (critical_errors.length > 0 || !data) return null;
  const [example] = data.samples;
  const { data_format: format, objective } = state.parameters;
  const learnt = objectiveSentence(format, objective);
  return (
    <>
      <div role="status" className="text-balance">
        <p className="font-medium text-base">{costSentence(validation, state.ceiling, currency)}</p>
        {learnt && <p className="mt-1">{learnt}</p>}
      </div>
      {reading && <ScanNotice reading={reading} />}
      {data.rows_kept < ROWS_FEW && (
        <Callout tone="warn" title={`Only ${countOf(data.rows_kept, 'row')} to learn from`} action={wayOut}>
          The model will learn little. Add rows: 50 or more work better.
        </Callout>
      )}
      {data.rows_dropped > 0 && (
        <p className="text-compact text-muted">
          {countOf(data.rows_dropped, 'row')} cannot be used and will be left out. The review under All
          settings says why.
        </p>
      )}
      {example && (
        <figure>
          <figcaption className="mb-1.5 text-compact text-muted">
            One example as the model reads it
            {captionEnd(example, objective)}
          </figcaption>
          <div className="rounded-xl bg-subtle p-4">
            {example.rejected ? (
              <SamplePair
                sample={example}
                rejected={example.rejected}
                view="parts"
                className="line-clamp-[12]"
              />
            ) : (
              <>
                {example.label !== null && <SampleRating isGood={example.label} />}
                <SampleParts parts={example.parts} className="line-clamp-[16]" />
                {example.reference !== null && <SampleReference reference={example.reference} />}
              </>
            )}
          </div>
        </figure>
      )}
    </>
  );
}

type Example = NonNullable<NonNullable<Wizard['validation']>['data']>['samples'][number];

function captionEnd({ rejected, label }: Example, objective: Objective): string {
  if (objective === 'grpo') return '. It writes several answers to it.';
  if (rejected) return ', with both answers.';
  if (label === null) return '. It learns to write the marked part.';
  return label ? '. The marked part becomes more likely.' : '. The marked part becomes less likely.';
}

function Pending() {
  return (
    <LoadingRegion className="flex flex-col gap-6">
      <Skeleton className="h-6 w-full max-w-md" />
      <Skeleton className="h-36 w-full rounded-xl" />
    </LoadingRegion>
  );
}
