import { createEmbeddings } from '@bakehouse/contract/embeddings';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type FormEvent, useState } from 'react';
import { call } from '../../../lib/api/api-client.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Field } from '../../../ui/field.tsx';
import { Progress } from '../../../ui/progress.tsx';
import { Textarea } from '../../../ui/textarea.tsx';
import { cosine } from './cosine.ts';

/** The first answer may wait for a model to wake. */
const TIMEOUT_MS = 10 * 60_000;

/** Two texts, and how near an embedding model takes them to be. */
export function CompareTexts({ modelName }: { modelName: string }) {
  const [texts, setTexts] = useState(['The bread has just come out of the oven.', 'Fresh loaves are ready.']);
  const compare = useMutation({
    mutationFn: () =>
      call(
        createEmbeddings,
        { body: { model: modelName, input: texts } },
        { timeoutMs: TIMEOUT_MS, operation: 'compare the texts' },
      ),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    compare.mutate();
  };
  const change = (index: number) => (event: { target: { value: string } }) => {
    setTexts(texts.map((text, place) => (place === index ? event.target.value : text)));
    compare.reset();
  };
  const isEmpty = texts.some((text) => text.trim() === '');
  return (
    <Card
      title="Compare two texts"
      description="Texts with similar meanings have vectors that are close together."
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="First text">
            <Textarea value={texts[0]} onChange={change(0)} />
          </Field>
          <Field label="Second text">
            <Textarea value={texts[1]} onChange={change(1)} />
          </Field>
        </div>
        <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
          <Button type="submit" variant="primary" disabled={isEmpty} loading={compare.isPending}>
            Compare
          </Button>
          {compare.data && <Similarity answer={compare.data} />}
        </div>
      </form>
    </Card>
  );
}

type Answer = ResponseOf<typeof createEmbeddings>;

function Similarity({ answer: { data, usage } }: { answer: Answer }) {
  const [one = [], other = []] = data.map(({ embedding }) => (Array.isArray(embedding) ? embedding : []));
  const similarity = cosine(one, other);
  return (
    <output className="flex min-w-48 flex-1 flex-col gap-1.5">
      <Progress
        label="Cosine similarity"
        aside={<strong className="text-ink">{similarity.toFixed(4)}</strong>}
        value={100 * Math.max(0, similarity)}
      />
      <span className="text-muted text-xs">
        {countOf(one.length, 'number')} for each text, {countOf(usage.prompt_tokens, 'token')} read
      </span>
    </output>
  );
}
