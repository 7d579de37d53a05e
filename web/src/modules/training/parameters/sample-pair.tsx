import type { FineTuneValidation } from '@bakehouse/contract/training';
import type { ReactNode } from 'react';
import { Conversation } from '../../../ui/conversation.tsx';
import { SampleParts } from './sample-parts.tsx';
import { splitPair } from './split-pair.ts';

type Sample = NonNullable<FineTuneValidation['data']>['samples'][number];

type Props = {
  sample: Pick<Sample, 'turns' | 'parts'>;
  rejected: Pick<Sample, 'turns' | 'parts'>;
  view: 'turns' | 'parts';
  /** Of each text, where not all of it is shown. */
  className?: string;
};

/** A question with its better and its worse answer beside each other. */
export function SamplePair({ sample, rejected, view, className }: Props) {
  const turns = splitPair(sample.turns, rejected.turns);
  const parts = splitPair(sample.parts, rejected.parts);
  const drawn = (which: keyof typeof turns) =>
    view === 'turns' ? (
      <Conversation turns={turns[which]} />
    ) : (
      <SampleParts parts={parts[which]} className={className} />
    );
  const hasShared = (view === 'turns' ? turns : parts).shared.length > 0;
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

function Answer({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0 rounded-lg border border-line bg-surface p-3">
      <p className="mb-1.5 font-medium text-[0.8125rem]">{title}</p>
      {children}
    </section>
  );
}
