import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { Link } from '@tanstack/react-router';
import { ArrowDownLeft, ArrowUpRight, ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { formatClock, formatDateTime, localDay } from '../../../lib/format/format-time.ts';
import { Button } from '../../../ui/button.tsx';
import { useUser } from '../../accounts/session.ts';
import { GenerationThumbnail, shortPrompt } from '../../gallery/thumbnail/generation-thumbnail.tsx';
import { useGenerationThumbnail } from '../../gallery/thumbnail/generation-thumbnail-query.ts';
import { UsageAnswers } from './opened/usage-answers.tsx';
import type { Opened } from './opened/use-opened.ts';
import { SignedAmount } from './signed-amount.tsx';
import { isIncoming, type ListRow, nameOfGroup, type Transaction, workOf } from './transaction-rows.ts';

type Props = {
  row: ListRow;
  /** It is the last row. */
  last: boolean;
  opened: Opened;
};

/** A row of the list: a day's heading, a line, or one deployment's lines of that day. */
export function TransactionRow({ row, last, opened }: Props) {
  if (row.kind === 'day')
    return (
      <h2 className="border-line border-b bg-subtle px-5 py-2 font-medium text-muted text-xs leading-5">
        {row.heading}
      </h2>
    );
  if (row.kind === 'group')
    return <Group transactions={row.transactions} groupKey={row.key} last={last} opened={opened} />;
  return <Single transaction={row.transaction} last={last} opened={opened} />;
}

type SingleProps = Omit<Props, 'row'> & { transaction: Transaction };

function Single({ transaction, last, opened }: SingleProps) {
  const { usage_window_id: windowId, transaction_id: id } = transaction;
  const open = opened.has(id);
  return (
    <>
      <Line
        transaction={transaction}
        note={transaction.asset_name}
        last={last && !open}
        opener={windowId && <Opener label="Answers" open={open} onToggle={() => opened.toggle(id)} />}
      />
      {windowId && open && <UsageAnswers windowId={windowId} />}
    </>
  );
}

type GroupProps = Omit<Props, 'row'> & { transactions: Transaction[]; groupKey: string };

/** The sum of one deployment's charges on one day; opens the charges. */
function Group({ transactions, groupKey, last, opened }: GroupProps) {
  const open = opened.has(groupKey);
  const [newest] = transactions;
  if (!newest) return null;
  const sum = transactions.reduce((total, { amount }) => total + parseBgl(amount), 0n);
  const name = nameOfGroup(transactions);
  return (
    <>
      <Line
        transaction={{ ...newest, amount: formatBgl(sum), description: `Deployment of ${name}` }}
        note={countOf(transactions.length, 'charge')}
        last={last && !open}
        opener={<Opener label="Charges" open={open} onToggle={() => opened.toggle(groupKey)} />}
      />
      {open && (
        <ul aria-label={`Charges of ${name}`} className="border-line border-b bg-subtle/60 sm:pl-8">
          {transactions.map((transaction, index) => (
            <li key={transaction.transaction_id}>
              <Single transaction={transaction} last={index === transactions.length - 1} opened={opened} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type LineProps = {
  transaction: Transaction;
  /** Text after the time. */
  note: string | null;
  last: boolean;
  opener: ReactNode;
};

/** Title with a link to the work, time, and amount. A picture or video is titled with its prompt. */
function Line({ transaction, note, last, opener }: LineProps) {
  const { generation_id: generationId, description } = transaction;
  const generation = useGenerationThumbnail(useUser().id, generationId ?? null);
  const work = generation === null ? null : workOf(transaction);
  const title = generation ? shortPrompt(generation.prompt) : description;
  const notes = [
    timeOf(transaction),
    ...(generation ? [description] : []),
    ...(note && !description.includes(note) ? [note] : []),
    ...(generation === null ? ['deleted'] : []),
  ];
  return (
    <div className={cx('flex items-center gap-3 border-line px-5 py-2.5 sm:gap-3.5', !last && 'border-b')}>
      {generationId ? (
        <GenerationThumbnail generation={generation} />
      ) : (
        <Direction transaction={transaction} />
      )}
      <div className="min-w-0 flex-1">
        <div className="truncate leading-5">
          {work ? (
            <Link {...work} className="hover:underline">
              {title}
            </Link>
          ) : (
            title
          )}
        </div>
        <div className="truncate text-muted text-xs leading-5">{notes.join(' · ')}</div>
      </div>
      {opener}
      <SignedAmount transaction={transaction} />
    </div>
  );
}

function Direction({ transaction }: { transaction: Transaction }) {
  const incoming = isIncoming(transaction);
  const Arrow = incoming ? ArrowDownLeft : ArrowUpRight;
  return (
    <span
      className={cx(
        'flex size-8 shrink-0 items-center justify-center rounded-full max-sm:hidden',
        incoming ? 'bg-good-soft text-good' : 'bg-subtle text-muted',
      )}
    >
      <Arrow aria-hidden className="size-4" />
    </span>
  );
}

/** The heading shows the day, except for pending transactions. */
function timeOf({ status, transaction_date }: Transaction): string {
  const date = new Date(transaction_date);
  if (status !== 'pending') return formatClock(date);
  const isToday = localDay(date) === localDay(new Date());
  return `Since ${(isToday ? formatClock : formatDateTime)(date)}`;
}

function Opener({ label, open, onToggle }: { label: string; open: boolean; onToggle: () => void }) {
  return (
    <Button size="sm" aria-expanded={open} onClick={onToggle}>
      {label}
      <ChevronDown aria-hidden className={cx(open && 'rotate-180')} />
    </Button>
  );
}
