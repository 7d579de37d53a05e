import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import type { ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';
import { Conversation } from '../../../ui/conversation.tsx';
import { SampleParts } from './sample-parts.tsx';
import { splitPair } from './split-pair.ts';

type Sample = NonNullable<FineTuneValidation['data']>['samples'][number];

type Props = {
  sample: Pick<Sample, 'turns' | 'parts'>;
  rejected: Pick<Sample, 'turns' | 'parts'>;
  view: 'turns' | 'parts';
  /** Class of each text, to limit its height. */
  className?: string;
};

/** A question with its better and worse answers side by side. Marks the better one as learned. */
export function SamplePair({ sample, rejected, view, className }: Props) {
  const turns = splitPair(sample.turns, rejected.turns);
  const parts = splitPair(sample.parts, rejected.parts);
  const isTurns = view === 'turns' && turns.better.length + turns.worse.length > 0;
  const drawn = (which: keyof typeof turns) =>
    isTurns ? (
      <Turns turns={turns[which]} isMarked={which === 'better'} />
    ) : (
      <SampleParts parts={parts[which]} isMarked={which === 'better'} className={className} />
    );
  const hasShared = (isTurns ? turns : parts).shared.length > 0;
  return (
    <div className="flex flex-col gap-3">
      {hasShared && drawn('shared')}
      <div className="grid gap-3 sm:grid-cols-2">
        <Answer title="Better answer">{drawn('better')}</Answer>
        <Answer title="Worse answer">{drawn('worse')}</Answer>
      </div>
    </div>
  );
}

/** Omits the role if the answer is a single assistant turn. */
function Turns({ turns, isMarked }: { turns: Sample['turns']; isMarked: boolean }) {
  const [only, ...others] = turns;
  if (only?.role !== 'assistant' || others.length > 0) {
    return <Conversation turns={turns.map((turn) => ({ ...turn, learnt: isMarked && turn.learnt }))} />;
  }
  return (
    <p dir="auto" className="whitespace-pre-wrap text-compact [overflow-wrap:anywhere]">
      <span className={cx(isMarked && 'rounded bg-accent-soft px-1 text-accent-text')}>{only.content}</span>
    </p>
  );
}

function Answer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div role="group" aria-label={title} className="min-w-0 rounded-lg border border-line bg-surface p-3">
      <p className="mb-1.5 font-medium text-compact">{title}</p>
      {children}
    </div>
  );
}
