import { cx } from '../lib/cx.ts';
import { formatNumber } from '../lib/format/format-number.ts';

type Turn = {
  role: string;
  content: string;
  /** True if the model is trained to produce this turn. */
  learnt?: boolean;
};

type Props = {
  turns: readonly Turn[];
  /** Number of turns not shown. */
  more?: number;
  /** Shows only the first lines of each turn. */
  isCut?: boolean;
};

const speakers: Record<string, string> = {
  system: 'System',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
};

/** A conversation from a data file. */
export function Conversation({ turns, more = 0, isCut = false }: Props) {
  return (
    <ol className="flex flex-col gap-2 text-compact">
      {turns.map(({ role, content, learnt }, at) => (
        <li key={at} className="flex flex-col gap-0.5 sm:flex-row sm:gap-3">
          <span className="w-20 shrink-0 pt-0.5 text-muted text-xs">{speakers[role] ?? role}</span>
          <span
            dir="auto"
            className={cx(
              'min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]',
              isCut && 'line-clamp-3',
              learnt && 'rounded bg-accent-soft px-1 text-accent-text',
            )}
          >
            {content}
          </span>
        </li>
      ))}
      {more > 0 && (
        <li className="text-muted text-xs">
          {`and ${formatNumber(more)} more ${more === 1 ? 'turn' : 'turns'}`}
        </li>
      )}
    </ol>
  );
}
