import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { useState } from 'react';
import { Conversation } from '../../../ui/conversation.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { formatLabels } from './format-labels.ts';
import { SamplePair } from './sample-pair.tsx';
import { SampleParts } from './sample-parts.tsx';
import { SampleRating } from './sample-rating.tsx';
import { SampleReference } from './sample-reference.tsx';

type Data = NonNullable<FineTuneValidation['data']>;
type Props = Pick<Data, 'samples' | 'format'>;

type View = (typeof views)[number]['value'];

const views = [
  { value: 'turns', label: 'Conversation' },
  { value: 'parts', label: 'As the model reads it' },
] as const;

/** The first examples, as turns or as text with the chat template's tokens. */
export function SampleList({ samples, format }: Props) {
  const [view, setView] = useState<View>('turns');
  const hasPairs = samples.some(({ rejected }) => rejected !== null);
  const hasRatings = samples.some(({ label }) => label !== null);
  const hasTurns = samples.some(({ turns }) => turns.length > 0);
  return (
    <Disclosure title="How the model sees the first examples">
      <div className="flex flex-wrap items-center justify-between gap-2 pb-3">
        <p className="text-compact text-muted">
          {format && `Data format: ${formatLabels[format.format]}. `}
          {hasPairs
            ? 'The model learns which of the two answers is better.'
            : format?.format === 'prompts'
              ? 'The model writes several answers to each, and learns from their rewards.'
              : hasRatings
                ? 'The marked parts of good answers become more likely, those of bad ones less likely.'
                : 'The model learns to write the marked parts and reads the rest.'}
        </p>
        {hasTurns && <Segmented label="Show examples as" value={view} onChange={setView} options={views} />}
      </div>
      <ul className="flex flex-col gap-3">
        {samples.map((sample, index) => (
          <li key={index} className="rounded-lg bg-subtle p-3">
            <Sample sample={sample} view={hasTurns ? view : 'parts'} />
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}

function Sample({ sample, view }: { sample: Data['samples'][number]; view: View }) {
  if (sample.rejected) return <SamplePair sample={sample} rejected={sample.rejected} view={view} />;
  return (
    <>
      {sample.label !== null && <SampleRating isGood={sample.label} />}
      {view === 'turns' ? <Conversation turns={sample.turns} /> : <SampleParts parts={sample.parts} />}
      {sample.reference !== null && <SampleReference reference={sample.reference} />}
    </>
  );
}
