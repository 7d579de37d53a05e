import { useEffect, useRef } from 'react';

type Props = {
  lines: readonly { at: string; line: string }[];
  /** What stands there without any. */
  emptyText?: string;
};

/** Log lines in monospace, always as high, so that nothing moves as they come. Follows the end unless the person has scrolled up. */
export function LogView({ lines, emptyText = 'No lines yet.' }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const following = useRef(true);

  useEffect(() => {
    if (box.current && following.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);

  return (
    <div
      ref={box}
      role="log"
      aria-label="Log"
      tabIndex={0}
      onScroll={({ currentTarget: at }) => {
        following.current = at.scrollHeight - at.scrollTop - at.clientHeight < 24;
      }}
      className="h-80 overflow-auto rounded-xl bg-subtle p-4 font-mono text-[0.8125rem] leading-5"
    >
      {lines.length === 0 && <p className="font-sans text-muted">{emptyText}</p>}
      {lines.map(({ at, line }, index) => (
        // Lines have no id of their own, and are only replaced as a whole.
        <div key={index} className="flex gap-3">
          <time dateTime={at} className="shrink-0 text-faint tabular-nums">
            {new Date(at).toLocaleTimeString('en-GB')}
          </time>
          <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{line}</span>
        </div>
      ))}
    </div>
  );
}
