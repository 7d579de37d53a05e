import type { HeldOutAnswers as Answers } from '@bakehouse/contract/runtime/report';
import { Check } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { cx } from '../../../lib/cx.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { useHeldOutAnswers } from './held-out-calls.ts';
import { countExpected, isExpected } from './is-expected.ts';
import { type ComparedModels, UnansweredQuestions } from './unanswered-questions.tsx';

type Row = Answers['rows'][number];

/** Longer texts are collapsed. */
const FOLDED_CHARACTERS = 400;

type Props = {
  runId: string;
  models: ComparedModels;
  className?: string;
};

/** Answers of the base and tuned models to held-out rows. Renders nothing if they weren't asked. */
export function HeldOutAnswers({ runId, models, className }: Props) {
  return (
    <QueryView
      query={useHeldOutAnswers(runId)}
      failed="The answers from both models could not be loaded"
      pending={null}
      isEmpty={({ held_out_answers: answers }) => answers === null}
      empty={null}
    >
      {({ held_out_answers: answers }) =>
        answers && (
          <AnswersCard answers={answers} className={className}>
            {answers.questions?.length ? (
              <UnansweredQuestions questions={answers.questions} models={models} />
            ) : null}
          </AnswersCard>
        )
      }
    </QueryView>
  );
}

type CardProps = { answers: Answers; className: string | undefined; children: ReactNode };

function AnswersCard({ answers, className, children }: CardProps) {
  const { task, rows, skipped } = answers;
  return (
    <Card
      flush
      title="Before and after training"
      description={
        rows.length === 0
          ? skipped
          : `${task === 'answer' ? 'How the base model and this model answer' : 'How the base model and this model continue'} ${countOf(rows.length, 'row')} that the run did not train on. ${countExpected(rows)}`
      }
      className={className}
    >
      <ul className="divide-y divide-line">
        {rows.map((row, at) => (
          <RowAnswers key={at} row={row} task={task} />
        ))}
      </ul>
      {children}
    </Card>
  );
}

function RowAnswers({ row, task }: { row: Row; task: Answers['task'] }) {
  const [unfolded, setUnfolded] = useState(false);
  const { question, expected, base, tuned, earlier_turns: earlier } = row;
  const isLong = [question, expected, base, tuned].some((text) => text.length > FOLDED_CHARACTERS);
  const folded = isLong && !unfolded;
  const asked = task === 'answer' ? 'Question' : 'Beginning';
  return (
    <li className="px-5 py-4">
      <p className="text-muted text-xs">
        {earlier > 0 ? `${asked}, after ${countOf(earlier, 'earlier turn')}` : asked}
      </p>
      <Text text={question} folded={folded} className="mt-0.5 font-medium" />
      <dl className="mt-3 grid gap-x-5 gap-y-3 md:grid-cols-3">
        {expected !== '' && <Answer label="Expected" text={expected} folded={folded} />}
        <Answer label="Base model" text={base} folded={folded} right={isExpected(base, expected)} />
        <Answer label="This model" text={tuned} folded={folded} right={isExpected(tuned, expected)} own />
      </dl>
      {isLong && (
        <Button size="sm" className="mt-3" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
          {unfolded ? 'Show less' : 'Show all'}
        </Button>
      )}
    </li>
  );
}

type AnswerProps = { label: string; text: string; folded: boolean; right?: boolean; own?: boolean };

function Answer({ label, text, folded, right = false, own = false }: AnswerProps) {
  return (
    <div className={cx('min-w-0 border-l-2 pl-3', own ? 'border-accent' : 'border-line')}>
      <dt className="flex flex-wrap items-center gap-x-2 text-muted text-xs">
        {label}
        {right && (
          <span className="inline-flex items-center gap-1 text-good [&>svg]:size-3">
            <Check aria-hidden />
            as expected
          </span>
        )}
      </dt>
      <dd className="mt-0.5">
        {text === '' ? (
          <span className="text-compact text-muted">No text</span>
        ) : (
          <Text text={text} folded={folded} />
        )}
      </dd>
    </div>
  );
}

function Text({ text, folded, className }: { text: string; folded: boolean; className?: string }) {
  return (
    <p
      dir="auto"
      className={cx(
        'whitespace-pre-wrap text-compact [overflow-wrap:anywhere]',
        folded && 'line-clamp-5',
        className,
      )}
    >
      {text}
    </p>
  );
}
