import { useQuery } from '@tanstack/react-query';
import { QueryView } from '../../../ui/query-view.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useStickToBottom } from '../../../ui/use-stick-to-bottom.ts';
import { cloneLogsQuery } from './clone-calls.ts';

/** A clone's log, file by file. */
export function CloneLog({ id }: { id: string }) {
  const logs = useQuery(cloneLogsQuery(id));
  return (
    <QueryView
      query={logs}
      failed="The log could not be loaded"
      pending={<Skeleton className="h-40" />}
      compact
    >
      {({ files_copying_logs: lines }) => <Lines lines={lines} />}
    </QueryView>
  );
}

function Lines({ lines }: { lines: readonly string[] }) {
  const { box, content, onScroll } = useStickToBottom();
  return (
    <div
      ref={box}
      role="log"
      aria-label="Log"
      tabIndex={0}
      onScroll={onScroll}
      className="max-h-64 overflow-auto rounded-xl bg-subtle p-4 font-mono text-[0.8125rem] leading-5"
    >
      <div ref={content}>
        {lines.length === 0 && <p className="font-sans text-muted">No lines yet.</p>}
        {lines.map((line, index) => (
          // Lines have no id, and are only replaced as a whole.
          <div key={index} className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            {line}
          </div>
        ))}
      </div>
    </div>
  );
}
