import type { FineTuneValidation } from '@bakehouse/contract/training';
import { useState } from 'react';
import { cx } from '../../../lib/cx.ts';
import { Conversation } from '../../../ui/conversation.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { formatLabels } from './format-labels.ts';

type Data = NonNullable<FineTuneValidation['data']>;
type Props = Pick<Data, 'samples' | 'format'>;

const views = [
  { value: 'turns', label: 'Conversation' },
  { value: 'parts', label: 'As the model reads it' },
] as const;

/** The first examples: who says what, or the text with the marks of the model's chat template. */
export function SampleList({ samples, format }: Props) {
  const [view, setView] = useState<(typeof views)[number]['value']>('turns');
  const hasTurns = samples.some(({ turns }) => turns.length > 0);
  return (
    <Disclosure title="How the model sees the first examples">
      <div className="flex flex-wrap items-center justify-between gap-2 pb-3">
        <p className="text-[0.8125rem] text-muted">
          {format && `Data format: ${formatLabels[format.format]}. `}
          The model learns to write the marked parts and reads the rest.
        </p>
        {hasTurns && <Segmented label="Show examples as" value={view} onChange={setView} options={views} />}
      </div>
      <ul className="flex flex-col gap-3">
        {samples.map(({ turns, parts }, index) => (
          <li key={index} className="rounded-lg bg-subtle p-3">
            {hasTurns && view === 'turns' ? <Conversation turns={turns} /> : <SampleParts parts={parts} />}
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}

/** The text of one example, with what is learnt of it. */
export function SampleParts({
  parts,
  className,
}: Pick<Data['samples'][number], 'parts'> & { className?: string }) {
  return (
    <p className={cx('whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]', className)}>
      {parts.map(({ text, learnt }, at) =>
        learnt ? (
          <mark key={at} className="rounded bg-accent-soft text-accent-text">
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </p>
  );
}
