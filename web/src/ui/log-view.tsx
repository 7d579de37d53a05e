import { useStickToBottom } from './use-stick-to-bottom.ts';

type Props = {
  lines: readonly { at?: string; line: string }[];
  /** Shown if there are no lines. */
  emptyText?: string;
};

/**
 * Log lines in a fixed-height box, so that new lines don't shift the page. Follows the end unless the user
 * has scrolled up.
 */
export function LogView({ lines, emptyText = 'No lines yet.' }: Props) {
  const { box, content, onScroll } = useStickToBottom();
  return (
    <div
      ref={box}
      role="log"
      aria-label="Log"
      tabIndex={0}
      onScroll={onScroll}
      className="h-80 overflow-auto rounded-xl bg-subtle p-4 font-mono text-compact leading-5"
    >
      <div ref={content}>
        {lines.length === 0 && <p className="font-sans text-muted">{emptyText}</p>}
        {lines.map(({ at, line }, index) => (
          // Lines have no ids and are only replaced as a whole.
          <div key={index} className="flex gap-3">
            {at !== undefined && (
              <time dateTime={at} className="shrink-0 text-faint tabular-nums">
                {new Date(at).toLocaleTimeString('en-GB')}
              </time>
            )}
            <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{line}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
