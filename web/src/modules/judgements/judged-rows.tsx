import type { JudgedRow } from '@bakehouse/contract/judgements';
import { Badge } from '../../ui/badge.tsx';
import { Disclosure } from '../../ui/disclosure.tsx';
import { orderText, outcomes } from './judgement-sentences.ts';

/** What came of each row; opened, both answers and what the judge wrote in both orders. */
export function JudgedRows({ rows }: { rows: readonly JudgedRow[] }) {
  return (
    <ul aria-label="Verdicts" className="grid grid-cols-1 gap-2">
      {rows.map((row, at) => (
        <li key={at}>
          <Disclosure title={<RowTitle row={row} />}>
            <RowTexts row={row} />
          </Disclosure>
        </li>
      ))}
    </ul>
  );
}

function RowTitle({ row: { question, outcome } }: { row: JudgedRow }) {
  const { label, tone } = outcomes[outcome];
  return (
    <>
      <span dir="auto" className="min-w-0 flex-1 truncate text-left">
        {question}
      </span>
      <Badge tone={tone}>{label}</Badge>
    </>
  );
}

function RowTexts({ row: { expected, base, tuned, judge } }: { row: JudgedRow }) {
  return (
    <dl className="grid gap-x-5 gap-y-3 md:grid-cols-2">
      {expected !== '' && <Text label="Expected" text={expected} wide />}
      <Text label="Base model" text={base} />
      <Text label="This model" text={tuned} />
      {judge.map((answer) => (
        <Text
          key={String(answer.tuned_first)}
          label={orderText(answer)}
          text={answer.text ?? answer.error ?? ''}
        />
      ))}
      {judge.length === 0 && (
        <Text label="Judge" text="Both models gave the same answer, so nothing was asked." wide />
      )}
    </dl>
  );
}

function Text({ label, text, wide = false }: { label: string; text: string; wide?: boolean }) {
  return (
    <div className={wide ? 'min-w-0 md:col-span-2' : 'min-w-0'}>
      <dt className="text-muted text-xs">{label}</dt>
      <dd dir="auto" className="mt-0.5 whitespace-pre-wrap text-[0.8125rem] [overflow-wrap:anywhere]">
        {text === '' ? <span className="text-muted">No text</span> : text}
      </dd>
    </div>
  );
}
