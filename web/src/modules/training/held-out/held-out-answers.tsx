import { getHeldOutAnswers } from '@bakehouse/contract/runs';
import type { HeldOutAnswers as Answers } from '@bakehouse/contract/runtime/report';
import { useQuery } from '@tanstack/react-query';
import { Check, Columns2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { cx } from '../../../lib/cx.ts';
import { countOf } from '../../../lib/format/words.ts';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { chatModelsQuery } from '../../deployments/chat/chat.ts';
import { useLiveDeployment } from '../../deployments/use-deployments.ts';

export const heldOutAnswersQuery = (runId: string) =>
  endpointQuery(['run', 'held-out', runId], getHeldOutAnswers, { params: { runId } });

/** Longer texts are collapsed. */
const FOLDED_CHARACTERS = 400;

type Row = Answers['rows'][number];

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
          <span className="text-[0.8125rem] text-muted">No text</span>
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
        'whitespace-pre-wrap text-[0.8125rem] [overflow-wrap:anywhere]',
        folded && 'line-clamp-5',
        className,
      )}
    >
      {text}
    </p>
  );
}

/** The fine-tune and its base model. */
type ComparedModels = { modelId: string; baseModelId: string | undefined };

/** Held-out questions that the run couldn't ask, with a link to ask both models in a side-by-side chat. */
function UnansweredQuestions({ questions, models }: { questions: string[]; models: ComparedModels }) {
  const pod = useLiveDeployment(models.modelId);
  const basePod = useLiveDeployment(models.baseModelId);
  const answering = useQuery(chatModelsQuery).data?.data ?? [];
  // A starter model answers under this name without a deployment.
  const base = answering.find(({ id }) => id === pod?.model_name)?.parent ?? 'base';
  return (
    <div className="px-5 py-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-[0.8125rem] text-muted">
          {pod
            ? 'Copy a question, and ask both models side by side.'
            : 'Deploy this model to ask both models side by side.'}
        </p>
        {pod && (
          <ButtonLink
            size="sm"
            to="/my-deployments"
            search={{ chat: pod.pod_id, beside: basePod?.pod_id ?? base }}
          >
            <Columns2 aria-hidden />
            Compare
          </ButtonLink>
        )}
      </div>
      <ul className="mt-2">
        {questions.map((question) => (
          <li key={question} className="flex items-start justify-between gap-3 py-1">
            <p dir="auto" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
              {question}
            </p>
            <CopyButton text={question} label="Copy the question" />
          </li>
        ))}
      </ul>
    </div>
  );
}

export function useHeldOutAnswers(runId: string, { enabled = true } = {}) {
  return useQuery({ ...heldOutAnswersQuery(runId), enabled });
}

type IsExpectedRow = { expected: string; base: string; tuned: string };

/** Returns true if an answer matches the row's, ignoring whitespace and case. */
function isExpected(answer: string, expected: string): boolean {
  return plain(answer) === plain(expected);
}

/**
 * Returns a summary such as 'Word-for-word matches: 3 by this model, none by the base model.'; empty if there
 * are none.
 */
function countExpected(rows: readonly IsExpectedRow[]): string {
  const right = (of: 'base' | 'tuned') => rows.filter((row) => isExpected(row[of], row.expected)).length;
  const [base, tuned] = [right('base'), right('tuned')];
  if (base === 0 && tuned === 0) return '';
  return `Word-for-word matches: ${tuned || 'none'} by this model, ${base || 'none'} by the base model.`;
}

function plain(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}
